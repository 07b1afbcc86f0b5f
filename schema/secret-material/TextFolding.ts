/** Characters of other scripts that look like ASCII characters. */
const lookalikes: ReadonlyMap<string, string> = new Map(
  Object.entries({
    a: "аαɑ",
    b: "Ьƅ",
    c: "сϲⅽ",
    d: "ԁⅾ",
    e: "еєε℮",
    g: "ɡց",
    h: "һհ",
    i: "іıɩι",
    j: "јϳ",
    k: "кκ",
    l: "ӏⅼ",
    m: "мⅿ",
    n: "ոп",
    o: "оοօ",
    p: "рρ",
    q: "ԛ",
    r: "гᴦ",
    s: "ѕ",
    t: "тτ",
    u: "υս",
    v: "νѵ",
    w: "ԝω",
    x: "хχ",
    y: "уγү",
    z: "ᴢ",
    A: "АΑ",
    B: "ВΒ",
    C: "СϹ",
    E: "ЕΕ",
    G: "Ԍ",
    H: "НΗ",
    I: "ІΙӀ",
    J: "Ј",
    K: "КΚ",
    M: "МΜ",
    N: "Ν",
    O: "ОΟ",
    P: "РΡ",
    S: "Ѕ",
    T: "ТΤ",
    X: "ХΧ",
    Y: "УΥҮ",
    Z: "Ζ",
    "-": "‐‑‒–—―−",
    _: "ˍ",
    ":": "∶ː꞉։",
    "/": "∕⁄",
    "=": "゠꞊",
    "@": "﹫"
  }).flatMap(([ascii, others]) => Array.from(others, (other) => [other, ascii]))
)

const lookalike = new RegExp(`[${Array.from(lookalikes.keys()).join("")}]`, "gu")
const beyondAscii = /[^\t\n\r -~]/
const invisible = /\p{Default_Ignorable_Code_Point}/gu

/**
 * Converts everything that looks like an ASCII key to ASCII: compatibility forms (full width, mathematical) and lookalikes
 * are replaced, and invisible characters are removed. Use the result only for detection, never for display.
 */
export const foldText = (text: string): string => {
  if (!beyondAscii.test(text)) return text
  const normal = text.replace(invisible, "").normalize("NFKC")
  return normal.replace(lookalike, (character) => lookalikes.get(character) ?? character)
}
