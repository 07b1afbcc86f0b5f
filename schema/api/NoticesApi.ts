import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import {
  NoticeDelivery,
  NoticeDeliveryLog,
  NoticeDeliveryStatus,
  NoticeEndpoint,
  NoticeEndpointName,
  NoticeFilter,
  NoticeFormat,
  NoticeKind,
  NoticeMails
} from "../records/NoticeEndpoint.ts"
import { repeatable } from "./AnswerStatus.ts"
import { optionalIdempotencyHeaders } from "./IdempotencyHeaders.ts"
import { nextCursor, pageQuery } from "./Paging.ts"
import { ExtensionFamily } from "./ExtensionFamily.ts"

const inWorkspace = { workspaceId: Schema.String }
const ofEndpoint = { ...inWorkspace, endpointId: Schema.String }
const ofDelivery = { ...ofEndpoint, deliveryId: Schema.String }
const record = Schema.Struct({ endpoint: NoticeEndpoint })

const Kinds = Schema.Array(NoticeKind).check(Schema.isMinLength(1), Schema.isMaxLength(NoticeKind.literals.length))
const Address = Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(2048))

/** Number of minutes for which both secrets are valid. */
const Overlap = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 10_080 }))

export class NewNoticeEndpoint extends Schema.Opaque<NewNoticeEndpoint>()(
  Schema.Struct({
    name: NoticeEndpointName,
    address: Address,
    format: NoticeFormat,
    kinds: Kinds,
    filter: Schema.optionalKey(NoticeFilter)
  }).annotate({ identifier: "NewNoticeEndpoint" })
) {}

/** `kinds` and `filter` replace the existing values. Setting `active` also reactivates an endpoint in state `ended`. */
export class NoticeEndpointChange extends Schema.Opaque<NoticeEndpointChange>()(
  Schema.Struct({
    name: Schema.optionalKey(NoticeEndpointName),
    address: Schema.optionalKey(Address),
    kinds: Schema.optionalKey(Kinds),
    filter: Schema.optionalKey(NoticeFilter),
    state: Schema.optionalKey(Schema.Literals(["active", "disabled"]))
  }).annotate({ identifier: "NoticeEndpointChange" })
) {}

/**
 * `secretVersion` is the version that the caller last read. The previous secret remains valid for `overlapMinutes`, by default
 * one day.
 */
export class RotateNoticeSecret extends Schema.Opaque<RotateNoticeSecret>()(
  Schema.Struct({
    secretVersion: Schema.Int.check(Schema.isGreaterThanOrEqualTo(1)),
    overlapMinutes: Schema.optionalKey(Overlap)
  }).annotate({ identifier: "RotateNoticeSecret" })
) {}

/** `secret` starts with `whsec_`. It is returned only once, and only for JSON endpoints. */
export const CreatedNoticeEndpoint = Schema.Struct({
  endpoint: NoticeEndpoint,
  secret: Schema.optionalKey(Schema.String)
})
export type CreatedNoticeEndpoint = typeof CreatedNoticeEndpoint.Type

const delivery = Schema.Struct({ delivery: NoticeDelivery })

export class NoticesApi extends HttpApiGroup.make("notices")
  .add(
    HttpApiEndpoint.get("endpoints", "/api/v1/workspaces/:workspaceId/notice-endpoints", {
      params: inWorkspace,
      query: pageQuery,
      success: Schema.Struct({ endpoints: Schema.Array(NoticeEndpoint), ...nextCursor })
    })
  )
  .add(
    HttpApiEndpoint.post("createEndpoint", "/api/v1/workspaces/:workspaceId/notice-endpoints", {
      params: inWorkspace,
      headers: optionalIdempotencyHeaders,
      payload: NewNoticeEndpoint,
      success: repeatable(CreatedNoticeEndpoint)
    })
  )
  .add(
    HttpApiEndpoint.get("readEndpoint", "/api/v1/workspaces/:workspaceId/notice-endpoints/:endpointId", {
      params: ofEndpoint,
      success: record
    })
  )
  .add(
    HttpApiEndpoint.patch("updateEndpoint", "/api/v1/workspaces/:workspaceId/notice-endpoints/:endpointId", {
      params: ofEndpoint,
      payload: NoticeEndpointChange,
      success: record
    })
  )
  .add(
    HttpApiEndpoint.delete("removeEndpoint", "/api/v1/workspaces/:workspaceId/notice-endpoints/:endpointId", {
      params: ofEndpoint,
      success: HttpApiSchema.NoContent
    })
  )
  .add(
    HttpApiEndpoint.post("rotateSecret", "/api/v1/workspaces/:workspaceId/notice-endpoints/:endpointId/secret", {
      params: ofEndpoint,
      headers: optionalIdempotencyHeaders,
      payload: RotateNoticeSecret,
      success: repeatable(CreatedNoticeEndpoint)
    })
  )
  .add(
    HttpApiEndpoint.post("testEndpoint", "/api/v1/workspaces/:workspaceId/notice-endpoints/:endpointId/test", {
      params: ofEndpoint,
      headers: optionalIdempotencyHeaders,
      payload: Schema.optional(Schema.Struct({})),
      success: repeatable(delivery)
    })
  )
  .add(
    HttpApiEndpoint.get("deliveries", "/api/v1/workspaces/:workspaceId/notice-endpoints/:endpointId/deliveries", {
      params: ofEndpoint,
      query: { ...pageQuery, status: Schema.optionalKey(NoticeDeliveryStatus), kind: Schema.optionalKey(NoticeKind) },
      success: Schema.Struct({ deliveries: Schema.Array(NoticeDelivery), ...nextCursor })
    })
  )
  .add(
    HttpApiEndpoint.get(
      "readDelivery",
      "/api/v1/workspaces/:workspaceId/notice-endpoints/:endpointId/deliveries/:deliveryId",
      { params: ofDelivery, success: Schema.Struct({ delivery: NoticeDeliveryLog }) }
    )
  )
  .add(
    HttpApiEndpoint.post(
      "replayDelivery",
      "/api/v1/workspaces/:workspaceId/notice-endpoints/:endpointId/deliveries/:deliveryId/replay",
      { params: ofDelivery, payload: Schema.optional(Schema.Struct({})), success: delivery }
    )
  )
  .add(
    HttpApiEndpoint.get("mails", "/api/v1/account/notice-mails", {
      success: Schema.Struct({ noticeMails: NoticeMails })
    })
  )
  .add(
    HttpApiEndpoint.put("chooseMails", "/api/v1/account/notice-mails", {
      payload: Schema.Struct({ kinds: Schema.Array(NoticeKind).check(Schema.isMaxLength(NoticeKind.literals.length)) }),
      success: Schema.Struct({ noticeMails: NoticeMails })
    })
  )
  .annotateEndpoints(ExtensionFamily, "notices") {}
