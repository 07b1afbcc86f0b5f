const digestText = /^sha256:([0-9a-f]{64})$/

/**
 * Returns the path, in the snapshot folder, of the archive with this digest (`sha256:...`), or `undefined` for any other
 * string.
 */
export const snapshotFileName = (archiveDigest: string): string | undefined => {
  const sha256 = digestText.exec(archiveDigest)?.[1]
  return sha256 === undefined ? undefined : `${sha256.slice(0, 2)}/${sha256}.tar.zst`
}
