const digestText = /^sha256:([0-9a-f]{64})$/

/**
 * Returns the path, in the build folder, of the build with this digest (`sha256:...`), or `undefined` for any other string.
 */
export const buildFileName = (digest: string): string | undefined => {
  const sha256 = digestText.exec(digest)?.[1]
  return sha256 === undefined ? undefined : `${sha256}.tar`
}
