package zkbench

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/zkbench/zkbench/internal/cli"
	"github.com/zkbench/zkbench/internal/cli/serving"
	"github.com/zkbench/zkbench/internal/input/argument"
	"github.com/zkbench/zkbench/token/peer"
)

const acceptedRole = "validator, auditor, issuer, wallet or program"

func certCommand(stdout io.Writer) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "cert authority|issue",
		Short: "Make the certificates with which the parties of a token system know each other",
		Args:  cobra.ArbitraryArgs,
		RunE:  cli.ACommand,
	}
	cmd.AddCommand(certAuthorityCommand(stdout), certIssueCommand(stdout))
	return cmd
}

func certAuthorityCommand(stdout io.Writer) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "authority --dir DIR",
		Short: "Make an authority, whose certificates the parties of one system accept",
		Long: "Make an authority, whose certificates the parties of one system accept. Its directory gets " + serving.AuthorityFile + ", which\n" +
			"every party has, and " + serving.AuthorityKeyFile + ", the secret key. Keep the directory apart from the servers.",
		Args: cli.NoArguments,
	}
	dir := argument.Define(cmd.Flags(), "dir", argument.KindFile, "authority", "a directory in which there is no authority yet", "the authority's directory")
	name := argument.Define(cmd.Flags(), "name", argument.KindText, "zkbench authority", "a name of 1 to 64 bytes", "the authority's name: of 1 to 64 bytes")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if n := len(name.Text); n < 1 || n > 64 {
			return name.Refuse("name", name.Text)
		}
		a, err := peer.NewAuthority(name.Text)
		if err != nil {
			return err
		}
		if err := serving.WriteAuthority(dir.Text, a); err != nil {
			return existing("dir", dir, err)
		}
		_, err = fmt.Fprintf(stdout, "%s: an authority; keep its %s secret\n", dir.Text, serving.AuthorityKeyFile)
		return err
	}
	return cmd
}

func certIssueCommand(stdout io.Writer) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "issue --authority DIR --role ROLE --name NAME --out DIR",
		Short: "Make a party's certificate, in the directory that --tls takes",
		Long: "Make a party's certificate with a new key, in the directory that --tls takes. The certificate names the party and\n" +
			"its role. A party that serves also needs --host: the names or addresses in its URL. The role program is for\n" +
			"programs that use a wallet's server.",
		Args: cli.NoArguments,
	}
	flags := cmd.Flags()
	authority := argument.Define(flags, "authority", argument.KindFile, "authority", "the directory of an authority, as zkbench cert authority makes it", "the authority's directory")
	role := argument.Define(flags, "role", argument.KindText, "", acceptedRole, "what the party does: "+acceptedRole)
	name := argument.Define(flags, "name", argument.KindText, "", "a name of 1 to 64 bytes", "the party's name: of 1 to 64 bytes")
	hosts := argument.Define(flags, "host", argument.KindList, "", "host names or IP addresses", "where the party serves: host names or IP addresses, with commas between them")
	days := argument.Define(flags, "days", argument.KindNumber, "365", "1 to 3650", "how long the certificate is valid, in days: 1 to 3650")
	out := argument.Define(flags, "out", argument.KindFile, "", "a directory that has no certificate yet", "the directory for the certificate")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		switch n := len(name.Text); {
		case !slices.Contains(peer.Roles(), peer.Role(role.Text)):
			return role.Refuse("role", role.Text)
		case n < 1 || n > 64:
			return name.Refuse("name", name.Text)
		case out.Text == "":
			return out.Refuse("out", "")
		}
		valid, err := days.Number("days", 1, 3650)
		if err != nil {
			return err
		}
		a, err := serving.LoadAuthority("authority", authority.Text)
		if err != nil {
			return err
		}
		var at []string
		if hosts.Given {
			at = strings.Split(hosts.Text, ",")
			if slices.Contains(at, "") {
				return hosts.Refuse("host", hosts.Text)
			}
		}
		c, err := a.IssueFor(time.Duration(valid)*24*time.Hour, name.Text, peer.Role(role.Text), at...)
		if err != nil {
			return err
		}
		if err := serving.WriteCertificates(out.Text, c, a.Certificate()); err != nil {
			return existing("out", out, err)
		}
		_, err = fmt.Fprintf(stdout, "%s: a certificate of %s %q, valid until %s\n", out.Text, role.Text, name.Text, c.Leaf.NotAfter.Format(time.DateOnly))
		return err
	}
	return cmd
}

// existing refuses a directory that has what should be made in it.
func existing(field string, dir *argument.Option, err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok && errors.Is(err, fs.ErrExist) {
		return dir.Refuse(field, e.Path)
	}
	return err
}
