//! Prints the product lines of each crate, the longest files and circles of files.
//!
//! `cargo run -p tidy`. Product lines are those of `crates/*/src` without tests, `contract` and `testing`.

#![expect(clippy::print_stdout, reason = "a program for people")]

use std::collections::BTreeSet;
use tidy::circles::circles;
use tidy::product::{ProductFile, lines_by_crate, product_files};

fn main() {
    let lines = lines_by_crate();
    for (crate_name, count) in &lines {
        println!("{count:>7}  {crate_name}");
    }
    println!("{:>7}  in all", lines.values().sum::<usize>());

    let mut files = product_files();
    files.sort_by_key(|file| std::cmp::Reverse(file.lines()));
    println!("\nThe longest files:");
    for file in files.iter().take(10) {
        println!("{:>7}  {}", file.lines(), file.path);
    }

    let names: BTreeSet<String> = files.iter().map(|file| file.crate_name.clone()).collect();
    for name in names {
        let (of_crate, others): (Vec<ProductFile>, Vec<_>) =
            files.into_iter().partition(|file| file.crate_name == name);
        files = others;
        for circle in circles(&of_crate) {
            println!("\nA circle in {name}:\n         {}", circle.join("\n         "));
        }
    }
}
