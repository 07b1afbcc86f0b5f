import { Clock, Duration, Effect, Result, Schema } from "effect"
import { type ApiError, failedPrecondition, notFound } from "../../../schema/errors/ApiError.ts"
import { type CapsuleId, StateVersionId } from "../../../schema/records/Ids.ts"
import { retention } from "../../../schema/records/Retention.ts"
import { newId } from "../../base/Identity.ts"
import { Vault } from "../../base/vault/Vault.ts"

/**
 * The binding of a link. It is not stored: its contents are checked when the link is used, so a server restart does not
 * invalidate links. The operation history records each used link.
 */
export interface LinkSubject {
  /** The session of the person who requested it. */
  readonly session: string
  readonly capsuleId: CapsuleId
  readonly stateVersionId: StateVersionId
}

const purpose = "capsule-export"
const separator = "."

/** Identifies one link in the operation history. */
const LinkId = Schema.String.check(Schema.isPattern(/^exp_[a-z2-7]{24}$/)).pipe(Schema.brand("svc/ExportLinkId"))
export type ExportLinkId = typeof LinkId.Type

const sealedText = ({ capsuleId, session, stateVersionId }: LinkSubject, expires: number, id: ExportLinkId) =>
  [session, capsuleId, stateVersionId, expires, id].join("\n")

/** A link for what the person currently sees, and when it expires, in milliseconds since 1970. */
export const newLink = Effect.fnUntraced(function* (subject: LinkSubject) {
  const vault = yield* Vault
  const expires = (yield* Clock.currentTimeMillis) + Duration.toMillis(retention.capsuleExport.after)
  const id = yield* newId(LinkId, "exp")
  const mac = yield* vault.mac(purpose, sealedText(subject, expires, id))
  return { link: [expires, subject.stateVersionId, id, mac].join(separator), expires }
})

const Parts = Schema.Tuple([Schema.NumberFromString, StateVersionId, LinkId, Schema.String])
const decodeParts = Schema.decodeUnknownResult(Parts)

export const stateMoved = failedPrecondition("The state of the Capsule has changed since this export. Export it again.")

export const linkUsed = failedPrecondition("The link was used. Export the Capsule again.")

/** The id of a link; refuses a link that does not belong to the subject or has expired. */
export const checkLink = Effect.fnUntraced(function* (
  subject: LinkSubject,
  link: string
): Effect.fn.Return<ExportLinkId, ApiError, Vault> {
  const vault = yield* Vault
  const parts = decodeParts(link.split(separator))
  if (Result.isFailure(parts)) return yield* notFound("Export")
  const [expires, stateVersionId, id, mac] = parts.success
  const isGenuine = yield* vault.verifyMac(purpose, sealedText({ ...subject, stateVersionId }, expires, id), mac)
  if (!isGenuine) return yield* notFound("Export")
  if ((yield* Clock.currentTimeMillis) >= expires) {
    return yield* failedPrecondition("The link has ended. Export the Capsule again.")
  }
  if (stateVersionId !== subject.stateVersionId) {
    return yield* stateMoved
  }
  return id
})
