import { Option } from "effect"

const decoder = new TextDecoder("utf-8", { fatal: true })
const decodeText = Option.liftThrowable((bytes: Uint8Array) => decoder.decode(bytes))

/** Returns the index after the closing quote of the string that begins at `from`. */
const endOfString = (text: string, from: number): number => {
  let index = from + 1
  while (index < text.length && text[index] !== '"') index += text[index] === "\\" ? 2 : 1
  return index + 1
}

const serialMember = /^"serial"(\s*:\s*)(\d+)/

/**
 * Returns the state file with a different serial. Edits the text, because decoding and encoding it would round large
 * numbers. Returns `none` if the bytes are not a JSON object with a serial.
 */
export const withSerial = (bytes: Uint8Array, serial: number): Option.Option<Uint8Array> =>
  Option.flatMap(decodeText(bytes), (text) => {
    let depth = 0
    for (let index = 0; index < text.length; index += 1) {
      const character = text[index]
      if (character === "{" || character === "[") depth += 1
      else if (character === "}" || character === "]") depth -= 1
      else if (character === '"') {
        const end = endOfString(text, index)
        const found = depth === 1 ? serialMember.exec(text.slice(index, end + 64)) : null
        if (found !== null) {
          const written = `"serial"${found[1]}${serial}`
          return Option.some(
            new TextEncoder().encode(text.slice(0, index) + written + text.slice(index + found[0].length))
          )
        }
        index = end - 1
      }
    }
    return Option.none()
  })
