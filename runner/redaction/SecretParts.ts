import { Buffer } from "node:buffer"
import * as Option from "effect/Option"
import { withNumbersAsText } from "../../schema/json/ExactNumbers.ts"
import { leafTexts } from "./SecretRule.ts"

const deepestEncoding = 4
const shortestTokenPart = 16

/** In text that is not JSON, only the value of an assignment is a secret in its own right. */
const secretNames = /key|token|secret|passw|pwd|signature|^sig$|credential|auth/i

const decodeJson = Option.liftThrowable((text: string): unknown => [
  JSON.parse(text),
  JSON.parse(withNumbersAsText(text))
])
const utf8 = new TextDecoder("utf-8", { fatal: true })
const decodeUtf8 = Option.liftThrowable((bytes: Uint8Array) => utf8.decode(bytes))
const decodePercent = Option.liftThrowable(decodeURIComponent)

const userInfo = (text: string) =>
  [...text.matchAll(/[a-z][a-z0-9+.-]{0,30}:\/\/([^\s/?#@]*)@/gi)].flatMap(([, info = ""]) => {
    const separator = info.indexOf(":")
    const secret = separator < 0 ? info : info.slice(separator + 1)
    return [secret, ...Option.toArray(decodePercent(secret))]
  })

const assignments = (text: string) =>
  [...text.matchAll(/(?<![\w.-])([\w.-]+)["']?[ \t]*[=:][ \t]*(?:"([^"\n]+)"|'([^'\n]+)'|([^\s"';&,]+))/g)].flatMap(
    ([, name = "", double, single, bare]) => (secretNames.test(name) ? [double ?? single ?? bare ?? ""] : [])
  )

const netrcPasswords = (text: string) =>
  [...text.matchAll(/\bpassword[ \t]+(\S+)/g)].map(([, password = ""]) => password)

const authorization = (text: string) => {
  const [, scheme = "", credentials = ""] = /^(bearer|basic|token)[ \t]+(\S+)$/i.exec(text.trim()) ?? []
  if (scheme.toLowerCase() !== "basic") return [credentials]
  const pair = Buffer.from(credentials, "base64").toString("utf8")
  return [credentials, pair, pair.slice(pair.indexOf(":") + 1)]
}

const tokenParts = (text: string) => {
  const parts = text.trim().split(".")
  const isToken = parts.length === 3 && parts.every((part) => /^[\w-]+$/.test(part))
  // The header of a JSON Web Token is the same for everyone.
  return isToken ? parts.slice(1).filter((part) => part.length >= shortestTokenPart) : []
}

const embedded = (text: string) => {
  const compact = text.replace(/\s/g, "")
  if (compact.length < shortestTokenPart || !/^[A-Za-z0-9+/_-]+={0,2}$/.test(compact)) return []
  const decoded = decodeUtf8(Buffer.from(compact, "base64"))
  const isDocument = (inner: string) => inner.trimStart().startsWith("{") || inner.includes("-----BEGIN")
  return Option.toArray(Option.filter(decoded, isDocument))
}

/**
 * The secret and every part of it that is itself a secret: each string and number in a JSON text under any name, passwords in
 * URLs and connection strings, `key = value` lines, authorization headers, tokens, and documents wrapped in base64.
 */
export const secretParts = (secret: string | Uint8Array): ReadonlyArray<string | Uint8Array> => {
  const found = new Set<string>()
  const open: Array<readonly [depth: number, text: string]> = []
  const decoded = typeof secret === "string" ? Option.some(secret) : decodeUtf8(secret)
  for (const text of Option.toArray(decoded)) open.push([0, text])
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [depth, text] = next
    if (text === "" || found.has(text)) continue
    found.add(text)
    if (depth === deepestEncoding) continue
    const document = /^\s*[[{"]/.test(text) ? decodeJson(text) : Option.none()
    const parts = Option.match(document, {
      onSome: leafTexts,
      onNone: () => [...assignments(text), ...netrcPasswords(text), ...authorization(text), ...tokenParts(text)]
    })
    for (const part of [...parts, ...userInfo(text), ...embedded(text)]) open.push([depth + 1, part])
  }
  return typeof secret === "string" || Option.isSome(decoded) ? [...found] : [secret]
}
