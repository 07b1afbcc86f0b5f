const headerLine = /^(?:author|committer) [^\n]*?<([^<>\n]*)> \d+ [+-]\d{4}$/
const trailerLine = /^co-authored-by:[^\n]*<([^<>\n]*)>\s*$/i

/**
 * Returns the distinct, lower-case email addresses of a commit's author, committer and co-authors. The author of a commit
 * can write any address, so use these addresses only to exclude a person, never to authorise a person.
 */
export const commitAuthors = (bytes: Uint8Array): ReadonlyArray<string> => {
  const text = Buffer.from(bytes).toString("utf8")
  const end = text.indexOf("\n\n")
  const [header, message] = end === -1 ? [text, ""] : [text.slice(0, end), text.slice(end + 2)]
  const found = [
    ...header.split("\n").map((line) => headerLine.exec(line)?.[1]),
    ...message.split("\n").map((line) => trailerLine.exec(line)?.[1])
  ]
  const addresses = found.flatMap((address) => (address === undefined ? [] : [address.trim().toLowerCase()]))
  return [...new Set(addresses)].filter((address) => address !== "")
}
