const maxBytes = 255
/**
 * Characters that Git forbids: the space, control characters and revision syntax. Git allows other invisible characters, but they
 * would let two refs look alike in a review. U+FFFD replaces bytes that were not UTF-8.
 */
const forbidden = /[ \p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\ufffd~^:?*[\\]/u
const commit = /^[0-9a-f]{40}$/i
const encoder = new TextEncoder()

const isComponent = (component: string) =>
  component !== "" && !component.startsWith(".") && !component.endsWith(".lock")

/** True if a ref is a commit rather than a name. */
export const isCommitRef = (text: string): boolean => commit.test(text)

/**
 * Git's own rules for ref names (`git check-ref-format --allow-onelevel`), excluding names that look like an option and invisible
 * characters.
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
 * The grammar of refs: `HEAD`, a branch, a tag, a full ref below `refs/heads`, `refs/tags` and the like, or a commit of 40 hex
 * digits. Returns the normal form, with commits in lower case, or `undefined` for anything else. A ref never begins with `-`, so
 * no program can mistake it for an option, and it contains no revision syntax.
 */
export const normaliseRef = (text: string): string | undefined => {
  if (isCommitRef(text)) return text.toLowerCase()
  const names = !text.startsWith("refs/") || text.split("/").length > 2
  return names && isRefName(text) ? text : undefined
}

/** True if two refs, in any spelling, are the same. */
export const isSameRef = (one: string, other: string): boolean =>
  (normaliseRef(one) ?? one) === (normaliseRef(other) ?? other)
