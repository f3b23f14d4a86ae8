//! `nonneg manual`.

use std::path::Path;

use clap::{Command, CommandFactory};
use clap_mangen::Man;

use crate::args::{Cli, ManualArgs};
use crate::console;
use crate::failure::Failure;

pub fn run(args: &ManualArgs) -> Result<u8, Failure> {
    let mut command = Cli::command();
    command.build();
    let Some(folder) = &args.output else {
        console::print_bytes(&page(command)?)?;
        return Ok(crate::DONE);
    };
    if !Path::new(folder).is_dir() {
        return Err(Failure::new(format!("{folder} is not a folder: expected one that exists")));
    }
    let write = |name: &str, page: &[u8]| nonneg_io::write_bytes(&Path::new(folder).join(name).to_string_lossy(), page);
    for part in command.get_subcommands().filter(|part| part.get_name() != "help") {
        write(&format!("nonneg-{}.1", part.get_name()), &page(part.clone())?)?;
    }
    write("nonneg.1", &page(command)?)?;
    Ok(crate::DONE)
}

fn page(command: Command) -> Result<Vec<u8>, Failure> {
    let mut page = Vec::new();
    Man::new(command).render(&mut page).map_err(|error| Failure::new(format!("cannot make the manual page: {error}")))?;
    Ok(page)
}
