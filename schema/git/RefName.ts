const maxBytes = 255
/**
 * Characters that Git forbids: space, control characters and revision syntax. The pattern also excludes other invisible
 * characters, because they could make two different refs look the same in a review. U+FFFD replaces bytes that were not
 * UTF-8.
 */
const forbidden = /[ \p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\ufffd~^:?*[\\]/u
const commit = /^[0-9a-f]{40}$/i
const encoder = new TextEncoder()

const isComponent = (component: string) =>
  component !== "" && !component.startsWith(".") && !component.endsWith(".lock")

/** Returns true if a ref is a commit id rather than a name. */
export const isCommitRef = (text: string): boolean => commit.test(text)

/**
 * Applies Git's rules for ref names (`git check-ref-format --allow-onelevel`). Also rejects names that look like an option or
 * contain invisible characters.
 */
const isRefName = (text: string) =>
  encoder.encode(text).length <= maxBytes &&
  !forbidden.test(text) &&
  !text.startsWith("-") &&
  !text.includes("..") &&
  !text.includes("@{") &&
  text !== "@" &&
  !text.endsWith(".") &&
  text.split("/").every(isComponent)

/**
 * Normalises a ref: `HEAD`, a branch, a tag, a full ref below `refs/heads`, `refs/tags` or similar, or a commit id of 40
 * hexadecimal digits, which is converted to lower case. Returns `undefined` for anything else. A valid ref contains no
 * revision syntax and never starts with `-`, so no program mistakes it for an option.
 */
export const normaliseRef = (text: string): string | undefined => {
  if (isCommitRef(text)) return text.toLowerCase()
  const names = !text.startsWith("refs/") || text.split("/").length > 2
  return names && isRefName(text) ? text : undefined
}

/** Returns true if two refs are equal after normalisation. */
export const isSameRef = (one: string, other: string): boolean =>
  (normaliseRef(one) ?? one) === (normaliseRef(other) ?? other)
