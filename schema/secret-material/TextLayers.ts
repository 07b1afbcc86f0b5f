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

/** The plain ASCII text that a run of characters encodes in base64 or base64url, or `undefined`. */
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
 * The folded text and whatever it contains in percent-encoding or base64, up to three encodings deep. Every layer is shorter than
 * the one it came from, so the total cost is a small multiple of the text.
 */
export const textLayers = (text: string): ReadonlyArray<string> => {
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
