import { hostAuthorityPattern, secretPatterns } from "./SecretPatterns.ts"
import { Result } from "effect"
import { foldText } from "./TextFolding.ts"

const percentEncoded = /%[0-9A-Fa-f]{2}/
const percentRuns = /(?:%[0-9A-Fa-f]{2})+/g
const base64Runs = /[A-Za-z0-9+/_-]{16,}/g
const base64Separators = /[/_-]+/

const lenientUtf8 = new TextDecoder("utf-8", { fatal: false, ignoreBOM: true })

const decodePercent = (text: string): string =>
  text.replace(percentRuns, (run) => {
    const bytes = new Uint8Array(run.length / 3)
    for (let index = 0; index < bytes.length; index++) {
      bytes[index] = Number.parseInt(run.slice(index * 3 + 1, index * 3 + 3), 16)
    }
    return lenientUtf8.decode(bytes)
  })

const isPlainText = (text: string): boolean => {
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index)
    const plain = (unit >= 0x20 && unit < 0x7f) || unit === 0x09 || unit === 0x0a || unit === 0x0d
    if (!plain) return false
  }
  return text.length > 0
}

/** Decodes base64 or base64url. Returns `undefined` unless the result is plain ASCII. */
const decodeBase64 = (run: string): string | undefined => {
  const whole = run.length % 4 === 1 ? run.slice(0, -1) : run
  const decoded = Result.try(() => atob(whole.replaceAll("-", "+").replaceAll("_", "/")))
  return Result.isSuccess(decoded) && isPlainText(decoded.success) ? decoded.success : undefined
}

const base64Texts = (text: string): ReadonlyArray<string> => {
  const runs = text.match(base64Runs) ?? []
  const candidates = runs.flatMap((run) => {
    const parts = run.split(base64Separators)
    return parts.length === 1 ? [run] : [run, ...parts.filter((part) => part.length >= 16)]
  })
  return candidates.map(decodeBase64).filter((decoded) => decoded !== undefined)
}

const maxLayers = 3

/**
 * Returns the folded text and the percent-encoded or base64-encoded text inside it, up to three layers deep. Each layer is
 * shorter than the previous one, so the total cost is a small multiple of the text.
 */
const textLayers = (text: string): ReadonlyArray<string> => {
  const layers: Array<string> = []
  let current = [foldText(text)]
  for (let depth = 0; depth <= maxLayers && current.length > 0; depth++) {
    layers.push(...current)
    current = current.flatMap((layer) => {
      const percent = percentEncoded.test(layer) ? [foldText(decodePercent(layer))] : []
      return [...percent.filter((decoded) => decoded !== layer), ...base64Texts(layer)]
    })
  }
  return layers
}

const authorityEnd = /[/?#\s"'<>\\|(){}[\]]/

/**
 * Returns true for `scheme://user:password@host` and, over HTTP, for any user information, because tokens are often used as the
 * user name.
 */
const hasUriCredentials = (text: string): boolean => {
  for (let at = text.indexOf("://"); at !== -1; at = text.indexOf("://", at + 3)) {
    const rest = text.slice(at + 3, at + 3 + 1024)
    const end = rest.search(authorityEnd)
    const authority = end === -1 ? rest : rest.slice(0, end)
    const userInfo = authority.slice(0, Math.max(0, authority.lastIndexOf("@")))
    const password = userInfo.indexOf(":")
    if (password !== -1 && password < userInfo.length - 1) return true
    if (userInfo !== "" && /https?$/i.test(text.slice(Math.max(0, at - 5), at))) return true
  }
  return false
}

const tokenRuns = /[A-Za-z0-9_.-]{20,}/g

/** Returns true for a JSON Web Token: a base64url-encoded object, a dot, and more base64url. */
const hasJsonWebToken = (text: string): boolean => {
  if (!text.includes("eyJ")) return false
  return (text.match(tokenRuns) ?? []).some((run) => {
    const parts = run.split(".")
    return parts.some(
      (part, index) => part.startsWith("eyJ") && part.length >= 12 && (parts[index + 1] ?? "").length >= 4
    )
  })
}

const isSecretText = (text: string) =>
  secretPatterns.some((pattern) => pattern.test(text)) || hasUriCredentials(text) || hasJsonWebToken(text)

/** Kinds of material that public text must not contain. */
export type ForbiddenMaterial = "secret_material" | "host_authority_material"

/**
 * Detects known forms of credentials (key prefixes, bearer values, assignments, private keys, credentials in URIs) and ids of
 * host records, even if they are disguised by invisible characters, lookalikes, percent-encoding or base64. Prose that mentions a
 * token or password is allowed. The cost is a small multiple of the text.
 */
export const forbiddenMaterial = (text: string): ForbiddenMaterial | undefined => {
  const layers = textLayers(text)
  if (layers.some(isSecretText)) return "secret_material"
  return layers.some((layer) => hostAuthorityPattern.test(layer)) ? "host_authority_material" : undefined
}

const findWithin = (
  texts: ReadonlyArray<string>,
  from: number,
  to: number,
  limit: number,
  found: Map<number, ForbiddenMaterial>
): void => {
  if (from >= to || found.size >= limit) return
  const material = forbiddenMaterial(texts.slice(from, to).join("\n"))
  if (material === undefined) return
  if (to - from === 1) {
    found.set(from, material)
    return
  }
  const middle = (from + to) >> 1
  findWithin(texts, from, middle, limit, found)
  findWithin(texts, middle, to, limit, found)
}

/**
 * Returns the indexes of the first `limit` strings that contain forbidden material. No form spans several lines, so many
 * strings are scanned at once, and only a group with a finding is divided. Scanning any number of clean strings therefore
 * takes a single pass.
 */
export const findForbiddenTexts = (
  texts: ReadonlyArray<string>,
  limit: number
): ReadonlyMap<number, ForbiddenMaterial> => {
  const found = new Map<number, ForbiddenMaterial>()
  findWithin(texts, 0, texts.length, limit, found)
  return found
}
