import { readFile, statfs } from "node:fs/promises"
import { Effect } from "effect"

// Magic numbers from statfs(2) of file systems whose locks or shared memory do not work across machines.
const networkMagics = new Map<bigint, string>([
  [0x6969n, "NFS"],
  [0x517bn, "SMB"],
  [0xff534d42n, "CIFS"],
  [0xfe534d42n, "SMB"],
  [0x564cn, "NCP"],
  [0x5346414fn, "AFS"],
  [0x6b414653n, "AFS"],
  [0x73757245n, "Coda"],
  [0x01021997n, "9P"],
  [0x00c36400n, "Ceph"],
  [0x0bd00bd0n, "Lustre"],
  [0x47504653n, "GPFS"],
  [0x01161970n, "GFS2"],
  [0x7461636fn, "OCFS2"]
])

const fuseMagic = 0x65735546n
const networkFuse =
  /^(?:fuse\.)?(?:sshfs|s3fs|s3ql|goofys|geesefs|gcsfuse|rclone|glusterfs|cephfs|ceph|juicefs|davfs|curlftpfs|mount-s3|mountpoint-s3|blobfuse2?|smbnetfs|moosefs|mfs)/

/** Returns the type of the mounted file system that contains `path`. `mountInfo` lists mounts with the outermost first. */
const mountType = (mountInfo: string, path: string): string | undefined => {
  let best: { readonly mountPoint: string; readonly type: string } | undefined
  for (const line of mountInfo.split("\n")) {
    const [before, after] = line.split(" - ")
    const mountPoint = before?.split(" ")[4]?.replace(/\\040/g, " ")
    const type = after?.split(" ")[0]
    if (mountPoint === undefined || type === undefined) continue
    const covers = path === mountPoint || path.startsWith(mountPoint === "/" ? "/" : `${mountPoint}/`)
    if (covers && (best === undefined || mountPoint.length >= best.mountPoint.length)) best = { mountPoint, type }
  }
  return best?.type
}

/**
 * Returns the name of the network file system that contains `path`, or `undefined` for a local file system. `magic` is the type
 * from statfs(2), and `mountInfo` is the contents of /proc/self/mountinfo.
 */
export const networkFileSystemName = (options: {
  readonly magic: bigint
  readonly mountInfo: string
  readonly path: string
}): string | undefined => {
  const known = networkMagics.get(options.magic & 0xffffffffn)
  if (known !== undefined) return known
  if ((options.magic & 0xffffffffn) !== fuseMagic) return undefined
  const type = mountType(options.mountInfo, options.path)
  return type !== undefined && networkFuse.test(type) ? type : undefined
}

/**
 * Returns the name of the network file system that contains an existing, absolute path. On platforms without the necessary
 * system calls, every path is treated as local.
 */
export const networkFileSystemOf = (path: string): Effect.Effect<string | undefined> =>
  Effect.all({
    magic: Effect.map(
      Effect.tryPromise(() => statfs(path, { bigint: true })),
      (stats) => stats.type
    ),
    mountInfo: Effect.orElseSucceed(
      Effect.tryPromise(() => readFile("/proc/self/mountinfo", "utf8")),
      () => ""
    )
  }).pipe(
    Effect.map(({ magic, mountInfo }) => networkFileSystemName({ magic, mountInfo, path })),
    Effect.orElseSucceed(() => undefined)
  )
