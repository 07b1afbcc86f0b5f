import { readFileSync, readdirSync, statSync } from "node:fs"
import { join } from "node:path"

const encodings = (canary: string): ReadonlyArray<readonly [form: string, bytes: Buffer]> => [
  ["plain", Buffer.from(canary)],
  ["utf-16", Buffer.from(canary, "utf16le")],
  ["base64", Buffer.from(Buffer.from(canary).toString("base64").replace(/=+$/, "").slice(0, -2))],
  // The Base64 form of a text inside a longer string has one of three alignments.
  ["base64 +1", Buffer.from(Buffer.from(`x${canary}`).toString("base64").slice(4, -4))],
  ["base64 +2", Buffer.from(Buffer.from(`xx${canary}`).toString("base64").slice(4, -4))],
  ["hex", Buffer.from(Buffer.from(canary).toString("hex"))]
]

const filesBelow = (folder: string): ReadonlyArray<string> =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path, { throwIfNoEntry: false })?.isFile() === true)

/**
 * Reads a file. Returns an empty buffer if the server has removed the file since it was listed, for example with the folder
 * of an ended Run.
 */
export const contentOf = (file: string) => {
  try {
    return readFileSync(file)
  } catch (cause) {
    if (cause instanceof Error && "code" in cause && cause.code === "ENOENT") return Buffer.alloc(0)
    throw cause
  }
}

/**
 * Finds unencrypted secrets: returns `<file> (<form>)` for every file below `folder` whose raw bytes contain a canary,
 * including the database and its write-ahead log. A canary must be longer than 12 characters, so that no form occurs by
 * chance.
 */
export const canarySweep = (folder: string, canaries: ReadonlyArray<string>): ReadonlyArray<string> =>
  filesBelow(folder).flatMap((path) => {
    const bytes = contentOf(path)
    return canaries.flatMap((canary) =>
      encodings(canary)
        .filter(([, form]) => bytes.includes(form))
        .map(([name]) => `${path} (${name})`)
    )
  })
