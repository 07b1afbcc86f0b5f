import { forbiddenMaterial } from "../secret-material/SecretScan.ts"
import { isCanonicalRelativePath } from "./CanonicalPath.ts"

/** Keys and indexes that lead from the root of a document to a position. */
export type DocumentPath = ReadonlyArray<PropertyKey>

const plainKey = /^[A-Za-z0-9_.$@/-]{1,128}$/

const segment = (key: PropertyKey): string => {
  if (typeof key === "number") return String(key)
  // Shows only plain names, because keys are as untrusted as values.
  if (typeof key !== "string" || !plainKey.test(key)) return "*"
  if (key !== "." && key.includes("/") && !isCanonicalRelativePath(key)) return "*"
  if (forbiddenMaterial(key) !== undefined) return "*"
  return key.replaceAll("~", "~0").replaceAll("/", "~1")
}

/** Returns the JSON Pointer of a position in a document. It is safe to show: keys that are not plain names become `*`. */
export const diagnosticPath = (path: DocumentPath): string => path.map((key) => `/${segment(key)}`).join("")
