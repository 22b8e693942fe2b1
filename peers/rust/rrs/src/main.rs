//! Measures the crate `rrs-lib`, an interpreter of RV32IM that decodes every instruction
//! anew. It counts none, so that the peer counts its steps, and has no calls: a program ends
//! where it makes one. Memory is one array, without the crate's list of regions.

use contract::{Result, serve};
use guests::{Guest, Report, System};
use rrs_lib::instruction_executor::{InstructionException, InstructionExecutor};
use rrs_lib::{HartState, MemAccessSize, Memory};
use std::process::ExitCode;

/// An ecall.
const CALL: u32 = 0x73;
/// Register a0.
const RESULT: usize = 10;

/// Words from an address on.
#[derive(Clone)]
struct Words {
    start: u32,
    words: Vec<u32>,
}

impl Words {
    /// The segments of an ELF32 file, whose headers are right.
    fn load(elf: &[u8]) -> (Self, u32) {
        let word = |at: usize| u32::from_le_bytes(elf[at..at + 4].try_into().expect("4 bytes"));
        let half = |at: usize| u16::from_le_bytes([elf[at], elf[at + 1]]) as usize;
        let headers = (0..half(44)).map(|i| word(28) as usize + i * half(42));
        let segments: Vec<(usize, u32, usize, u32)> = headers
            .map(|h| {
                (
                    word(h + 4) as usize,
                    word(h + 8),
                    word(h + 16) as usize,
                    word(h + 20),
                )
            })
            .collect();
        let start = segments.iter().map(|s| s.1).min().expect("a segment");
        let end = segments.iter().map(|s| s.1 + s.3).max().expect("a segment");
        let mut words = vec![0; (end - start).div_ceil(4) as usize];
        for (offset, at, size, _) in segments {
            for i in (0..size).step_by(4) {
                words[(at - start) as usize / 4 + i / 4] = word(offset + i);
            }
        }
        (Words { start, words }, word(24))
    }
}

impl Memory for Words {
    fn read_mem(&mut self, addr: u32, size: MemAccessSize) -> Option<u32> {
        let word = *self
            .words
            .get((addr.wrapping_sub(self.start) / 4) as usize)?;
        Some(match size {
            MemAccessSize::Byte => word >> (addr % 4 * 8) & 0xff,
            MemAccessSize::HalfWord => word >> (addr % 4 * 8) & 0xffff,
            MemAccessSize::Word => word,
        })
    }

    fn write_mem(&mut self, addr: u32, size: MemAccessSize, data: u32) -> bool {
        let at = (addr.wrapping_sub(self.start) / 4) as usize;
        let Some(word) = self.words.get_mut(at) else {
            return false;
        };
        let mask = match size {
            MemAccessSize::Byte => 0xff << (addr % 4 * 8),
            MemAccessSize::HalfWord => 0xffff << (addr % 4 * 8),
            MemAccessSize::Word => u32::MAX,
        };
        *word = *word & !mask | data << (addr % 4 * 8) & mask;
        true
    }
}

fn prepare(guest: Guest) -> Result<impl FnMut() -> Result<Report>> {
    let (image, entry) = Words::load(guest.elf);
    Ok(move || {
        let mut hart_state = HartState::new();
        hart_state.pc = entry;
        let mut machine = InstructionExecutor {
            mem: &mut image.clone(),
            hart_state: &mut hart_state,
        };
        let mut steps = 1; // the call, which is not executed
        let stopped = loop {
            match machine.step() {
                Ok(()) => steps += 1,
                Err(stopped) => break stopped,
            }
        };
        match stopped {
            InstructionException::IllegalInstruction(_, CALL) => Ok(Report {
                instructions: Some(steps),
                exit: hart_state.registers[RESULT],
            }),
            other => Err(format!("{other:?}")),
        }
    })
}

fn main() -> ExitCode {
    serve(&guests::cases(System::Zkvm, &["rv32im"], prepare))
}
