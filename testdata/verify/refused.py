class Refused(Exception):
    """What is said of a file that does not verify."""


def must(condition, reason):
    if not condition:
        raise Refused(reason)
