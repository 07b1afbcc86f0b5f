const maxBytes = 255
/** What Git itself forbids: the space and control characters of ASCII, and the characters of revision syntax. */
// oxlint-disable-next-line no-control-regex -- Git names exactly these
const forbidden = /[\u0000-\u0020\u007f~^:?*[\\]/
/** What Git allows and people cannot see: it would let two refs look alike in a review. Half a surrogate pair is no text at all. */
const invisible =
  /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}\u00ad\u115f\u1160\u3164\uffa0\u180e\u200b\u2060-\u206f\ufeff\ufff9-\ufffb\ufffd]/u
const commit = /^[0-9a-f]{40}$/i
const encoder = new TextEncoder()

const isComponent = (component: string) =>
  component !== "" && !component.startsWith(".") && !component.endsWith(".lock")

/** Whether a ref is a commit rather than a name. */
export const isCommitRef = (text: string): boolean => commit.test(text)

/**
 * Git's own rules for ref names (`git check-ref-format --allow-onelevel`), excluding names that look like an option and invisible
 * characters.
 */
const isRefName = (text: string) =>
  encoder.encode(text).length <= maxBytes &&
  !forbidden.test(text) &&
  !invisible.test(text) &&
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

/** Whether two refs, in any spelling, are the same. */
export const isSameRef = (one: string, other: string): boolean =>
  (normaliseRef(one) ?? one) === (normaliseRef(other) ?? other)
