import type { CommitDescription } from "../../schema/records/Commit.ts"
import { plainText } from "../redaction/LogText.ts"

const titleLength = 200
const bodyLength = 4000
const nameLength = 100

const person = "author "
const afterAddress = /^> (?<seconds>\d{1,12}) [+-]\d{4}$/
const encodingLine = /^encoding (?<label>[^\n]+)$/m
const trailer = /^[A-Za-z-]{1,40}: /
const address = /^(?<local>[^@\s]+)@[^@\s]+$/

/** The latest time that a `Timestamp` can represent. */
const lastSecond = Date.UTC(9999, 11, 31, 23, 59, 59) / 1000

const decode = (bytes: Uint8Array, label: string): string => {
  const utf8 = () => Buffer.from(bytes).toString("utf8")
  if (/^utf-?8$/i.test(label)) return utf8()
  // Decode the message as UTF-8 if its encoding is unknown.
  return knownLabels.has(label.toLowerCase()) ? new TextDecoder(label).decode(bytes) : utf8()
}

/** Encodings that Git clients have written into commits. */
const knownLabels: ReadonlySet<string> = new Set([
  "iso-8859-1",
  "iso8859-1",
  "latin1",
  "iso-8859-2",
  "iso-8859-15",
  "windows-1251",
  "windows-1252",
  "cp1251",
  "koi8-r",
  "euc-jp",
  "shift_jis",
  "iso-2022-jp",
  "euc-kr",
  "gbk",
  "gb18030",
  "big5"
])

const cut = (text: string, length: number): string => {
  const characters = [...text]
  return characters.length <= length ? text : `${characters.slice(0, length - 1).join("")}…`
}

/** Returns a name on one line. Reduces an email address to its local part. */
const nameOf = (text: string): string | undefined => {
  const name = plainText(text).replace(/\s+/g, " ").trim()
  return name === "" ? undefined : cut(address.exec(name)?.groups?.["local"] ?? name, nameLength)
}

const timeOf = (seconds: string | undefined): string | undefined =>
  seconds === undefined || Number(seconds) > lastSecond ? undefined : new Date(Number(seconds) * 1000).toISOString()

/** Matches the name and time in the author line of the header. Lines of a signature are indented, so they never match. */
const authorOf = (header: string): Pick<CommitDescription, "authorName" | "authoredAt"> => {
  const line = header.split("\n").find((each) => each.startsWith(person)) ?? ""
  const start = line.indexOf("<")
  const end = line.indexOf(">", start)
  const seconds = start === -1 || end === -1 ? undefined : afterAddress.exec(line.slice(end))?.groups?.["seconds"]
  if (seconds === undefined) return {}
  const authorName = nameOf(line.slice(person.length, start))
  const authoredAt = timeOf(seconds)
  return {
    ...(authorName === undefined ? {} : { authorName }),
    ...(authoredAt === undefined ? {} : { authoredAt })
  }
}

/** Removes the address from a line such as `Co-authored-by: Ada <ada@example.com>`. */
const withoutAddress = (line: string): string => {
  const start = line.indexOf("<")
  return start !== -1 && trailer.test(line) && line.includes("@", start) ? line.slice(0, start).trimEnd() : line
}

/**
 * Parses the title, body, author name and time of a commit object. The text is untrusted, so its length is limited and
 * characters that hide or reorder text are removed.
 */
export const describeCommit = (bytes: Uint8Array): CommitDescription => {
  const split = Buffer.from(bytes).indexOf("\n\n")
  const end = split === -1 ? bytes.length : split
  const labels = encodingLine.exec(Buffer.from(bytes.subarray(0, end)).toString("latin1"))
  const label = labels?.groups?.["label"] ?? "utf-8"
  const message = plainText(decode(bytes.subarray(split === -1 ? end : end + 2), label))
    .split("\n")
    .map(withoutAddress)
    .join("\n")
    .trim()
  const line = message.indexOf("\n")
  const [title, body] = line === -1 ? [message, ""] : [message.slice(0, line), message.slice(line + 1).trim()]
  return {
    title: cut(title.trim(), titleLength),
    ...(body === "" ? {} : { body: cut(body, bodyLength) }),
    ...authorOf(decode(bytes.subarray(0, end), label))
  }
}
