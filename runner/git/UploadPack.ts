import { Result } from "effect"

import type { FsClient } from "isomorphic-git"
import { parseTree } from "./GitObjects.ts"
import {
  delimPacket,
  encodePacket,
  encodeSideBand,
  flushPacket,
  type Packet,
  packetText,
  parsePackets
} from "./PktLine.ts"

/** Loaded on the first request, because a sync of any repository other than the sample never serves objects. */
const isogit = () => import("isomorphic-git")

/** The repository to serve. */
export interface ServedObjects {
  readonly fs: FsClient
  readonly gitdir: string
  /** If true, serves only objects that a ref points to. */
  readonly onlyListed: boolean
}

interface AdvertisedRef {
  readonly name: string
  readonly oid: string
  readonly peeled: string | undefined
  readonly symrefTarget: string | undefined
}

const agent = "agent=svc"
const objectFormat = "object-format=sha1"
const capabilitiesV1 = `shallow side-band-64k ofs-delta no-progress allow-tip-sha1-in-want allow-reachable-sha1-in-want ${objectFormat} ${agent}`
const noObject = "0".repeat(40)

const peel = async (repository: ServedObjects, oid: string): Promise<string> => {
  const found = await (await isogit()).readObject({ ...repository, oid, format: "parsed" })
  return found.format === "parsed" && found.type === "tag" ? peel(repository, found.object.object) : oid
}

const advertise = async (repository: ServedObjects, name: string, symrefTarget?: string): Promise<AdvertisedRef> => {
  const oid = await (await isogit()).resolveRef({ ...repository, ref: name })
  const commit = await peel(repository, oid)
  return { name, oid, peeled: commit === oid ? undefined : commit, symrefTarget }
}

/**
 * Lists HEAD first (if its branch exists) and then all refs sorted by name. If prefixes are given, lists only names that start
 * with one of them.
 */
const listRefs = async (
  repository: ServedObjects,
  prefixes: ReadonlyArray<string> = []
): Promise<ReadonlyArray<AdvertisedRef>> => {
  const isWanted = (name: string) => prefixes.length === 0 || prefixes.some((prefix) => name.startsWith(prefix))
  const names = (await (await isogit()).listRefs({ ...repository, filepath: "refs" }))
    .map((name) => `refs/${name}`)
    .sort()
  const refs: Array<AdvertisedRef> = []
  if (isWanted("HEAD")) {
    const branch = await (await isogit()).resolveRef({ ...repository, ref: "HEAD", depth: 2 })
    const head = names.includes(branch) ? await advertise(repository, "HEAD", branch) : undefined
    if (head !== undefined) refs.push(head)
  }
  for (const name of names.filter(isWanted)) {
    const advertised = await advertise(repository, name)
    refs.push(advertised)
  }
  return refs
}

const service = [encodePacket("# service=git-upload-pack\n"), flushPacket]

/**
 * Creates the response to `GET info/refs` in protocol v0/v1. The response lists every ref, and adds the peeled form of
 * annotated tags.
 */
const advertiseV1 = async (repository: ServedObjects): Promise<Uint8Array> => {
  const refs = await listRefs(repository)
  const symrefs = refs.flatMap((ref) =>
    ref.symrefTarget === undefined ? [] : [` symref=${ref.name}:${ref.symrefTarget}`]
  )
  const lines = refs.flatMap((ref) => [
    `${ref.oid} ${ref.name}`,
    ...(ref.peeled === undefined ? [] : [`${ref.peeled} ${ref.name}^{}`])
  ])
  if (lines.length === 0) lines.push(`${noObject} capabilities^{}`)
  const packets = lines.map((line, index) =>
    encodePacket(index === 0 ? `${line}\0${capabilitiesV1}${symrefs.join("")}\n` : `${line}\n`)
  )
  return Buffer.concat([...service, ...packets, flushPacket])
}

/** Creates the response to `GET info/refs` in protocol v2, which lists the server's capabilities. */
const advertiseV2 = (): Uint8Array =>
  Buffer.concat([
    ...service,
    ...["version 2", agent, "ls-refs", "fetch=shallow filter", objectFormat].map((line) => encodePacket(`${line}\n`)),
    flushPacket
  ])

const listRefsV2 = async (repository: ServedObjects, args: ReadonlyArray<string>): Promise<Uint8Array> => {
  const prefixes = args.filter((arg) => arg.startsWith("ref-prefix ")).map((arg) => arg.slice("ref-prefix ".length))
  const refs = await listRefs(repository, prefixes)
  const lines = refs.map((ref) => {
    const target =
      args.includes("symrefs") && ref.symrefTarget !== undefined ? ` symref-target:${ref.symrefTarget}` : ""
    const peeled = args.includes("peel") && ref.peeled !== undefined ? ` peeled:${ref.peeled}` : ""
    return encodePacket(`${ref.oid} ${ref.name}${target}${peeled}\n`)
  })
  return Buffer.concat([...lines, flushPacket])
}

interface Closure {
  readonly oids: ReadonlySet<string>
  readonly shallow: ReadonlyArray<string>
}

const addTree = async (repository: ServedObjects, oid: string, oids: Set<string>): Promise<void> => {
  if (oids.has(oid)) return
  oids.add(oid)
  // Reads trees without isomorphic-git's reader, which refuses the malformed trees that client tests use.
  const { object } = await (await isogit()).readObject({ ...repository, oid, format: "content" })
  if (!(object instanceof Uint8Array)) return
  for (const entry of Result.getOrElse(parseTree(oid, object), () => [])) {
    if (entry.kind === "tree") await addTree(repository, entry.oid, oids)
    else if (entry.kind !== "submodule") oids.add(entry.oid)
  }
}

/**
 * Collects every object that the wanted objects refer to, at most `depth` commits deep. If `withFiles` is false, collects
 * only the commits.
 */
const collect = async (
  repository: ServedObjects,
  wants: ReadonlyArray<string>,
  depth: number,
  withFiles = true
): Promise<Closure> => {
  const oids = new Set<string>()
  const shallow: Array<string> = []
  let level: ReadonlyArray<string> = wants
  for (let left = depth; level.length > 0; left--) {
    const parents: Array<string> = []
    for (const want of level) {
      if (oids.has(want)) continue
      const found = await (await isogit()).readObject({ ...repository, oid: want, format: "parsed" })
      if (found.type === "tree") await addTree(repository, want, oids)
      oids.add(want)
      if (found.format === "parsed" && found.type === "tag") {
        const inner = await collect(repository, [found.object.object], left, withFiles)
        for (const oid of inner.oids) oids.add(oid)
        shallow.push(...inner.shallow)
      }
      if (found.format !== "parsed" || found.type !== "commit") continue
      if (withFiles) await addTree(repository, found.object.tree, oids)
      if (left > 1) parents.push(...found.object.parent)
      else if (found.object.parent.length > 0) shallow.push(want)
    }
    level = parents
  }
  return { oids, shallow }
}

interface FetchRequest {
  readonly wants: ReadonlyArray<string>
  readonly depth: number
  readonly shallowRequested: boolean
  readonly done: boolean
  readonly sideBand: boolean
  /** The only supported filter. If `false`, commits are sent without their files. */
  readonly withFiles: boolean
}

const parseFetch = (lines: ReadonlyArray<string>): FetchRequest => {
  const wants = lines.filter((line) => line.startsWith("want ")).map((line) => line.slice(5, 45))
  const deepen = lines.find((line) => line.startsWith("deepen "))
  return {
    wants,
    depth: deepen === undefined ? Number.POSITIVE_INFINITY : Number(deepen.slice("deepen ".length)),
    shallowRequested: deepen !== undefined,
    done: lines.includes("done"),
    sideBand: lines.some((line) => line.startsWith("want ") && line.includes("side-band-64k")),
    withFiles: !lines.includes("filter tree:0")
  }
}

const pack = async (repository: ServedObjects, oids: ReadonlySet<string>): Promise<Uint8Array> => {
  const { packfile } = await (await isogit()).packObjects({ ...repository, oids: [...oids] })
  return packfile ?? new Uint8Array()
}

const shallowLines = (closure: Closure) => closure.shallow.map((oid) => encodePacket(`shallow ${oid}\n`))

/** Returns the server's refusal if a client requests an object that the repository does not have or does not serve. */
const refusal = async (repository: ServedObjects, wants: ReadonlyArray<string>): Promise<Uint8Array | undefined> => {
  const refs = repository.onlyListed ? await listRefs(repository) : []
  for (const want of wants) {
    const found = repository.onlyListed
      ? refs.some((ref) => ref.oid === want || ref.peeled === want)
      : await (await isogit()).readObject({ ...repository, oid: want, format: "content" }).then(
          () => true,
          () => false
        )
    if (!found) return encodePacket(`ERR upload-pack: not our ref ${want}\n`)
  }
  return undefined
}

/**
 * Responds to a protocol v0/v1 `POST git-upload-pack` with a complete pack, regardless of the objects that the client
 * already has.
 */
const uploadPackV1 = async (repository: ServedObjects, packets: ReadonlyArray<Packet>): Promise<Uint8Array> => {
  const request = parseFetch(packets.flatMap((packet) => packetText(packet) ?? []))
  const refused = await refusal(repository, request.wants)
  if (refused !== undefined) return refused
  const closure = await collect(repository, request.wants, request.depth)
  const shallow = request.shallowRequested ? [...shallowLines(closure), flushPacket] : []
  // Send no pack in the first round of a shallow fetch, in which the client requests only the boundary.
  if (!request.done) return Buffer.concat(shallow)
  const bytes = await pack(repository, closure.oids)
  const body = request.sideBand ? [...encodeSideBand(1, bytes), flushPacket] : [bytes]
  return Buffer.concat([...shallow, encodePacket("NAK\n"), ...body])
}

const fetchV2 = async (repository: ServedObjects, args: ReadonlyArray<string>): Promise<Uint8Array> => {
  const request = parseFetch(args)
  const refused = await refusal(repository, request.wants)
  if (refused !== undefined) return refused
  if (!request.done) return Buffer.concat([encodePacket("acknowledgments\n"), encodePacket("NAK\n"), flushPacket])
  const closure = await collect(repository, request.wants, request.depth, request.withFiles)
  const shallow = request.shallowRequested
    ? [encodePacket("shallow-info\n"), ...shallowLines(closure), delimPacket]
    : []
  const bytes = await pack(repository, closure.oids)
  return Buffer.concat([...shallow, encodePacket("packfile\n"), ...encodeSideBand(1, bytes), flushPacket])
}

/** Executes one protocol v2 command. */
const uploadPackV2 = (repository: ServedObjects, packets: ReadonlyArray<Packet>): Promise<Uint8Array> => {
  const lines = packets.flatMap((packet) => packetText(packet) ?? [])
  const command = lines.find((line) => line.startsWith("command="))
  if (command === "command=ls-refs") return listRefsV2(repository, lines)
  if (command === "command=fetch") return fetchV2(repository, lines)
  return Promise.resolve(Buffer.concat([encodePacket("ERR unknown command\n"), flushPacket]))
}

/** A request to a repository. The request's target is relative to the repository's address. */
export interface ServiceRequest {
  readonly method: string
  /** `info/refs?service=git-upload-pack` or `git-upload-pack`. */
  readonly target: string
  /** True if the client requests protocol v2 and the server offers it. */
  readonly isV2: boolean
  readonly body: Uint8Array
}

export interface ServiceAnswer {
  readonly status: number
  readonly contentType: string
  readonly body: Uint8Array
}

export const maxRequestBytes = 1024 * 1024

const refuse = (status: number, message: string): ServiceAnswer => ({
  status,
  contentType: "text/plain",
  body: Buffer.from(`${message}\n`)
})

const bytes = (kind: "advertisement" | "result", body: Uint8Array): ServiceAnswer => ({
  status: 200,
  contentType: `application/x-git-upload-pack-${kind}`,
  body
})

/** Serves Git's smart protocol, read-only. Reads nothing but the repository. */
export const answerUploadPack = async (
  repository: ServedObjects,
  { body, isV2, method, target }: ServiceRequest
): Promise<ServiceAnswer> => {
  if (method === "GET" && target === "info/refs?service=git-upload-pack")
    return bytes("advertisement", isV2 ? advertiseV2() : await advertiseV1(repository))
  if (method !== "POST" || target !== "git-upload-pack")
    return refuse(404, "There is no such repository or service here.")
  const packets = parsePackets(body)
  if (Result.isFailure(packets)) return refuse(400, `The request is malformed: ${packets.failure}.`)
  return (isV2 ? uploadPackV2 : uploadPackV1)(repository, packets.success).then(
    (found) => bytes("result", found),
    () => refuse(404, "A wanted object is not in this repository.")
  )
}
