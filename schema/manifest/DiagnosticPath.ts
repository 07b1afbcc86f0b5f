import { forbiddenMaterial } from "../secret-material/SecretScan.ts"
import { isCanonicalRelativePath } from "./CanonicalPath.ts"

/** Keys and indexes from the root of a document. */
export type DocumentPath = ReadonlyArray<PropertyKey>

const plainKey = /^[A-Za-z0-9_.$@/-]{1,128}$/

const segment = (key: PropertyKey): string => {
  if (typeof key === "number") return String(key)
  // Keys come from the author, just like values, so only plain names may be repeated.
  if (typeof key !== "string" || !plainKey.test(key)) return "*"
  if (key !== "." && key.includes("/") && !isCanonicalRelativePath(key)) return "*"
  if (forbiddenMaterial(key) !== undefined) return "*"
  return key.replaceAll("~", "~0").replaceAll("/", "~1")
}

/** The JSON Pointer of a place in a document, safe to show: a key that is not a plain name becomes `*`. */
export const diagnosticPath = (path: DocumentPath): string => path.map((key) => `/${segment(key)}`).join("")
