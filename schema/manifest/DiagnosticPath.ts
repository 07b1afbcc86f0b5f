import { forbiddenMaterial } from "../secret-material/SecretScan.ts"
import { isCanonicalRelativePath } from "./CanonicalPath.ts"

/** Keys and indexes from the root of a document. */
export type DocumentPath = ReadonlyArray<PropertyKey>

const plainKey = /^[A-Za-z0-9_.$@/-]{1,128}$/

const segment = (key: PropertyKey): string => {
  if (typeof key === "number") return String(key)
  // Keys are untrusted like values, so only plain names are shown.
  if (typeof key !== "string" || !plainKey.test(key)) return "*"
  if (key !== "." && key.includes("/") && !isCanonicalRelativePath(key)) return "*"
  if (forbiddenMaterial(key) !== undefined) return "*"
  return key.replaceAll("~", "~0").replaceAll("/", "~1")
}

/** The JSON Pointer of a position in a document, safe to show: keys that are not plain names become `*`. */
export const diagnosticPath = (path: DocumentPath): string => path.map((key) => `/${segment(key)}`).join("")
