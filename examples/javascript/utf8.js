/// UTF-8 as text. QuickJS has the language, but nothing of the web such as TextDecoder. What is no UTF-8 reads as U+FFFD.
export function decoded(bytes) {
  let text = "";
  for (let at = 0; at < bytes.length; ) {
    const size = sizeOf(bytes[at]);
    const piece = Array.from(bytes.slice(at, at + size), (byte) => `%${byte.toString(16).padStart(2, "0")}`).join("");
    try {
      text += decodeURIComponent(piece);
      at += size;
    } catch {
      text += "\ufffd";
      at += 1;
    }
  }
  return text;
}

/// Bytes of the character that begins with this one.
const sizeOf = (byte) => (byte < 0xc0 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4);
