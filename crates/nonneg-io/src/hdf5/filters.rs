//! Compressions that are common in HDF5 files and not built into the reader: LZF, which comes with h5py, and zstd.

use std::io::Read;

use hdf5_reader::FilterRegistry;
use hdf5_reader::error::Error;

const LZF: u16 = 32000;
const ZSTD: u16 = 32015;

/// No chunk expands further: the reader refuses larger ones.
const LIMIT: usize = super::LARGEST_CHUNK;

pub(super) fn registry() -> FilterRegistry {
    let mut registry = FilterRegistry::new();
    registry.register(LZF, Box::new(|_, data, _| unpack(data).ok_or_else(|| Error::InvalidData("damaged LZF data".into()))));
    registry.register(
        ZSTD,
        Box::new(|_, data, _| {
            let mut bytes = vec![];
            zstd::Decoder::with_buffer(data)?.take(LIMIT as u64).read_to_end(&mut bytes)?;
            Ok(bytes)
        }),
    );
    registry
}

/// Runs of literal bytes, and copies of what came before: a length and how far back.
fn unpack(mut data: &[u8]) -> Option<Vec<u8>> {
    let mut out: Vec<u8> = vec![];
    while let Some((&control, rest)) = data.split_first() {
        data = rest;
        let control = usize::from(control);
        if control < 32 {
            let (literal, rest) = data.split_at_checked(control + 1)?;
            out.extend_from_slice(literal);
            data = rest;
            continue;
        }
        let mut next = || {
            let (&byte, rest) = data.split_first()?;
            data = rest;
            Some(usize::from(byte))
        };
        let length = 2 + if control >> 5 == 7 { 7 + next()? } else { control >> 5 };
        let back = ((control & 31) << 8) + next()? + 1;
        let start = out.len().checked_sub(back).filter(|_| out.len() < LIMIT)?;
        // The copy may run into what it writes.
        for k in start..start + length {
            out.push(out[k]);
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::unpack;

    #[test]
    fn copies_may_overlap() {
        assert_eq!(unpack(&[1, b'a', b'b', 0x40, 1]).unwrap(), b"abababa"[..6]);
        assert_eq!(unpack(&[0, b'a', 0xe0, 3, 0]).unwrap(), [b'a'; 13]);
        for damaged in [&[5, b'a'][..], &[0, b'a', 0x20, 9], &[0x20], &[0xe0, 1]] {
            assert_eq!(unpack(damaged), None);
        }
    }
}
