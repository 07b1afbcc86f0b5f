import { posix } from "node:path"
import type { ModuleFootprint } from "./ModuleFootprint.ts"

/**
 * A module at one of the two commits to compare.
 * - `files`: a digest of each file in the tree; a different digest is treated as a change
 * - `manifest`: a digest of the repository's manifest; `null` if unknown
 */
export interface ModuleAt {
  readonly files: ReadonlyMap<string, string>
  readonly footprint: ModuleFootprint
  readonly manifest: string | null
}

export type ModuleChange = { readonly kind: "touched"; readonly because: string } | { readonly kind: "untouched" }

const touched = (because: string): ModuleChange => ({ kind: "touched", because })

/** Returns true if a file is, or may be, part of a module. */
export const isPartOf = (footprint: ModuleFootprint, file: string): boolean => {
  if (footprint.kind === "unknown") return true
  if (footprint.folders.has(posix.dirname(file)) || footprint.paths.has(".")) return true
  for (let path = file; path !== "."; path = posix.dirname(path)) if (footprint.paths.has(path)) return true
  return false
}

/**
 * Compares a module at two commits. Returns `untouched` only if that is certain, and `touched` if a change cannot be ruled out.
 */
export const moduleChange = (applied: ModuleAt, newer: ModuleAt): ModuleChange => {
  if (applied.manifest === null || applied.manifest !== newer.manifest) return touched("The manifest changed")
  for (const { footprint } of [newer, applied]) if (footprint.kind === "unknown") return touched(footprint.reason)
  for (const file of new Set([...newer.files.keys(), ...applied.files.keys()])) {
    if (newer.files.get(file) === applied.files.get(file)) continue
    if (isPartOf(newer.footprint, file) || isPartOf(applied.footprint, file)) return touched(`${file} changed`)
  }
  return { kind: "untouched" }
}
