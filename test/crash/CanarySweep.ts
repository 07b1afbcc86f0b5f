import { readdirSync } from "node:fs"
import { join } from "node:path"
import { contentOf } from "../support/CanarySweep.ts"

const base64Forms = (text: string): ReadonlyArray<string> =>
  // When a text is part of a longer string, its Base64 form has one of three alignments. The characters at the edges depend
  // on the characters around the text.
  [0, 1, 2].map((shift) => {
    const encoded = Buffer.from(`${"\0".repeat(shift)}${text}`)
      .toString("base64")
      .replace(/=+$/, "")
    return encoded.slice(shift === 0 ? 0 : shift + 1, -2)
  })

const formsOf = (text: string): ReadonlyArray<Buffer> =>
  [text, Buffer.from(text).toString("hex"), encodeURIComponent(text), ...base64Forms(text)]
    .map((form) => Buffer.from(form))
    .concat(Buffer.from(text, "utf16le"))

const filesBelow = (folder: string): ReadonlyArray<string> =>
  readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))

/** Returns the files below these folders whose raw bytes contain one of the strings, as plain text or encoded. */
export const sweep = (
  folders: ReadonlyArray<string>,
  texts: ReadonlyArray<string>,
  isExempt: (file: string) => boolean = () => false
): ReadonlyArray<string> => {
  const needles = texts.flatMap((text) => formsOf(text).map((form) => ({ text, form })))
  return folders
    .flatMap(filesBelow)
    .filter((file) => !isExempt(file))
    .flatMap((file) => {
      const bytes = contentOf(file)
      const found = needles.find(({ form }) => bytes.includes(form))
      return found === undefined ? [] : [`${file} holds ${found.text.slice(0, 12)}...`]
    })
}
