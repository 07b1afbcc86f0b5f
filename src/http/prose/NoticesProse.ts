import type { NoticesApi } from "../../../schema/api/NoticesApi.ts"
import { mostNoticeEndpoints } from "../../../schema/records/NoticeEndpoint.ts"
import { type GroupProse, route } from "./Prose.ts"

export const noticesProse: GroupProse<typeof NoticesApi> = {
  about: "Endpoints that receive notices, and notices by mail.",
  routes: {
    endpoints: route(
      "List the notice endpoints of a Workspace, oldest first",
      "Addresses and secrets are never returned; `host` is the origin of the address."
    ),
    createEndpoint: route(
      "Add a notice endpoint",
      `\`address\` is an https URL of a public host; an operator can allow other origins by name. \`json\` is signed by Standard Webhooks: \`secret\` begins with \`whsec_\` and is returned only once. \`slack\` and \`teams\` are messages for chats, whose address is the secret. A kind of \`kinds\` is described in \`webhooks\` of this document. \`filter\` selects among the notices about Capsules. At most ${mostNoticeEndpoints} endpoints (409). A request with the same \`Idempotency-Key\` returns the endpoint with 200, without the secret.`
    ),
    readEndpoint: route("Read a notice endpoint", "`waiting` counts the deliveries that have not ended."),
    updateEndpoint: route(
      "Change a notice endpoint",
      "`kinds` and `filter` replace the previous values. `state` `disabled` drops waiting deliveries; `active` also resumes an endpoint that the service disabled after five days of failures, or that ended because its receiver answered 410."
    ),
    removeEndpoint: route("Remove a notice endpoint", "Also removes its deliveries and their log."),
    rotateSecret: route(
      "Rotate the secret of a notice endpoint",
      "`secretVersion` is the version that you read from the endpoint; any other version is refused (409 `guard_conflict`). For `overlapMinutes` (a day by default, at most a week), deliveries carry a signature with each secret. The new secret is returned only once. 409 for a format without a secret."
    ),
    testEndpoint: route(
      "Send a test to a notice endpoint",
      "Queues a notice of the kind `endpoint.test`, also to a disabled endpoint. Read the delivery to see its result."
    ),
    deliveries: route(
      "List the deliveries to a notice endpoint, newest first",
      "`status` and `kind` filter the list. Ended deliveries are kept for 30 days."
    ),
    readDelivery: route(
      "Read a delivery with its attempts",
      "`log` lists every attempt with its outcome, status and duration, and `notice` contains the body in the format `json`."
    ),
    replayDelivery: route(
      "Send a delivery again",
      "Restarts the delivery at its first attempt, with the same `webhook-id` and `sequence`; a delivery that waits for its next attempt is sent now. 409 unless the endpoint is active."
    ),
    mails: route(
      "Read the caller's selection of notices by mail",
      "Empty until the caller chooses kinds. `sendsMail` is `false` on a server that sends no mail."
    ),
    chooseMails: route(
      "Choose the notices by mail",
      "`kinds` replaces the choice, for every Workspace of the caller. A mail goes to the people whom a notice concerns: the people who may approve a plan, the person who started a Run, or otherwise the owners and admins."
    )
  }
}
