/** A file that may be a sealed backup of another installation. */
export interface BackupFile {
  /** Its Capsules; none for any other file. */
  readonly capsules: ReadonlyArray<{ readonly id: string; readonly name: string }>
}

/** What is readable of a backup stands before what is sealed. */
const readableBytes = 1024 * 1024
const format = '"format":"svc.sealed-backup/'
const named = /"capsuleId":"(cap_[a-z0-9]+)","name":("(?:[^"\\]|\\.)*")/g

/** Recognises a backup by its first bytes, without reading the rest. */
export const backupFileOf = async (file: Blob): Promise<BackupFile | undefined> => {
  const text = await file.slice(0, readableBytes).text()
  if (!text.replaceAll(/\s/g, "").slice(0, 200).includes(format)) return undefined
  const capsules = [...text.matchAll(named)].map(([, id = "", name = '""']) => ({ id, name: String(JSON.parse(name)) }))
  return { capsules }
}
