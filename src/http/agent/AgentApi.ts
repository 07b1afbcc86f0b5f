import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiSchema } from "effect/http-api"
import { agentPath, agentRpcPath, BlobKind, Digest, StoredBytes } from "../../../schema/agent/Blob.ts"
import { RunId } from "../../../schema/records/Ids.ts"
import { describedGroup, describedRoute, type RouteAccess } from "../../http-kit/description/RouteDescription.ts"
import { Envelope } from "../../../schema/api/Middleware.ts"

const agentSession: RouteAccess = {
  security: [{ bearer: [] }, {}],
  sentence:
    "**Access:** enrolled agents, with the session that they began with a signature. Without a pool of agents these paths are answered 404."
}

const blob = { runId: RunId, fence: Schema.FiniteFromString, kind: BlobKind, digest: Digest }

const Said = Schema.Struct({ message: Schema.String })
const said = (status: number) => Said.pipe(HttpApiSchema.status(status))
const Bytes = Schema.Uint8Array.pipe(HttpApiSchema.asUint8Array())
const Lines = Schema.String.pipe(HttpApiSchema.asText({ contentType: "application/x-ndjson" }))

/** Internal routes for agents; not a public API. */
export class AgentApi extends describedGroup("agents", "The protocol between the server and its agents.")
  .add(
    HttpApiEndpoint.post("command", agentRpcPath, { payload: Lines, success: Lines }).annotateMerge(
      describedRoute(
        agentSession,
        "Send commands of an agent",
        "Remote procedure calls of `svc agent`: one JSON message in a request, of 4 MiB at most, and without a session of 64 KiB. The protocol has a version of its own and is not an interface for other programs."
      )
    ),
    HttpApiEndpoint.get("fetchBlob", `${agentPath}/runs/:runId/:fence/:kind/:digest`, {
      params: blob,
      headers: { range: Schema.optionalKey(Schema.String) },
      success: [Bytes, Bytes.pipe(HttpApiSchema.status(206))],
      error: [said(404), said(410), said(416)]
    }).annotateMerge(
      describedRoute(
        agentSession,
        "Fetch a file of a Run",
        "The snapshot as it is stored; build, state and plan file sealed for the agent that holds the Run. Resumed with `Range`. 410 once the Run is another's."
      )
    ),
    HttpApiEndpoint.put("storeBlob", `${agentPath}/runs/:runId/:fence/:kind/:digest`, {
      params: blob,
      headers: { "content-range": Schema.optionalKey(Schema.String) },
      payload: Bytes,
      success: StoredBytes,
      error: [said(400), said(410), said(413), said(422), said(503)]
    }).annotateMerge(
      describedRoute(
        agentSession,
        "Store a file of a Run",
        "Sealed for the server, in parts: `Content-Range: bytes A-B/T`; `bytes */T` with an empty body asks how many bytes are stored. Answers how many are stored and flushed. 422 when the whole has another digest than its address."
      )
    )
  )
  .middleware(Envelope) {}
