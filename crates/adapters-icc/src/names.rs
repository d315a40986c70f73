//! Names for the signatures of the standard (ICC.1:2022, tables 18 to 20 and chapter 9).

/// The four characters of a signature; `?` for bytes that are no printable ASCII.
pub(crate) fn signature(bytes: [u8; 4]) -> String {
    bytes.into_iter().map(|byte| if byte.is_ascii_graphic() || byte == b' ' { char::from(byte) } else { '?' }).collect()
}

/// The name of a profile class.
pub(crate) fn class(bytes: [u8; 4]) -> String {
    let known = match &bytes {
        b"scnr" => "Input device",
        b"mntr" => "Display",
        b"prtr" => "Output device",
        b"link" => "Device link",
        b"spac" => "Colour space",
        b"abst" => "Abstract",
        b"nmcl" => "Named colours",
        _ => return unknown(bytes),
    };
    known.to_owned()
}

/// The name of a colour space.
pub(crate) fn color_space(bytes: [u8; 4]) -> String {
    let known = match &bytes {
        b"XYZ " => "CIEXYZ",
        b"Lab " => "CIELAB",
        b"Luv " => "CIELUV",
        b"YCbr" => "YCbCr",
        b"Yxy " => "CIEYxy",
        b"GRAY" => "Gray",
        [count, b'C', b'L', b'R'] if count.is_ascii_hexdigit() => {
            let count = char::from(*count).to_digit(16).unwrap_or_default();
            return format!("{count} colours");
        }
        b"RGB " | b"HSV " | b"HLS " | b"CMY " | b"CMYK" => return signature(bytes).trim_end().to_owned(),
        _ => return unknown(bytes),
    };
    known.to_owned()
}

pub(crate) fn rendering_intent(number: u32) -> String {
    let known = match number {
        0 => "Perceptual",
        1 => "Relative colorimetric",
        2 => "Saturation",
        3 => "Absolute colorimetric",
        _ => return format!("unknown ({number})"),
    };
    known.to_owned()
}

fn unknown(bytes: [u8; 4]) -> String {
    format!("unknown ({})", signature(bytes))
}

/// The name of a tag; `None` for a tag that the standard doesn't have.
pub(crate) fn tag(bytes: [u8; 4]) -> Option<&'static str> {
    Some(match &bytes {
        b"A2B0" => "Device to connection space, perceptual",
        b"A2B1" => "Device to connection space, colorimetric",
        b"A2B2" => "Device to connection space, saturation",
        b"B2A0" => "Connection space to device, perceptual",
        b"B2A1" => "Connection space to device, colorimetric",
        b"B2A2" => "Connection space to device, saturation",
        b"D2B0" | b"D2B1" | b"D2B2" | b"D2B3" => "Device to connection space, floating point",
        b"B2D0" | b"B2D1" | b"B2D2" | b"B2D3" => "Connection space to device, floating point",
        b"bXYZ" => "Blue primary",
        b"gXYZ" => "Green primary",
        b"rXYZ" => "Red primary",
        b"bTRC" => "Blue tone curve",
        b"gTRC" => "Green tone curve",
        b"rTRC" => "Red tone curve",
        b"kTRC" => "Gray tone curve",
        b"bkpt" => "Black point",
        b"wtpt" => "White point",
        b"calt" => "Calibration date",
        b"chad" => "Chromatic adaptation",
        b"chrm" => "Chromaticities",
        b"cicp" => "Coding-independent code points",
        b"clro" => "Order of colorants",
        b"clrt" => "Colorants",
        b"cprt" => "Copyright",
        b"desc" => "Description",
        b"dmdd" => "Device model",
        b"dmnd" => "Device manufacturer",
        b"gamt" => "Gamut",
        b"lumi" => "Luminance",
        b"meas" => "Measurement",
        b"meta" => "Metadata",
        b"ncl2" => "Named colours",
        b"pre0" | b"pre1" | b"pre2" => "Preview",
        b"pseq" => "Profile sequence",
        b"resp" => "Output response",
        b"targ" => "Characterization data",
        b"tech" => "Technology",
        b"view" => "Viewing conditions",
        b"vued" => "Viewing conditions, described",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signatures_have_words_and_unknown_ones_are_shown() {
        assert_eq!(class(*b"prtr"), "Output device");
        assert_eq!(class(*b"x\0\xffy"), "unknown (x??y)");
        assert_eq!(color_space(*b"RGB "), "RGB");
        assert_eq!(color_space(*b"CMYK"), "CMYK");
        assert_eq!(color_space(*b"Lab "), "CIELAB");
        assert_eq!(color_space(*b"7CLR"), "7 colours");
        assert_eq!(color_space(*b"FCLR"), "15 colours");
        assert_eq!(color_space(*b"????"), "unknown (????)");
        assert_eq!(rendering_intent(1), "Relative colorimetric");
        assert_eq!(rendering_intent(9), "unknown (9)");
        assert_eq!(tag(*b"desc"), Some("Description"));
        assert_eq!(tag(*b"priv"), None);
    }
}
