import { isObject, type JsonObject } from "../../http-kit/description/DocumentSchemas.ts"

/** Frames of live streams, keyed by the names of their component schemas. */
export type FrameName = "RunEvent" | "RunLog"

const lastEventId = {
  name: "last-event-id",
  in: "header",
  description: "Resumes server-sent events after the message with this id; it takes precedence over `after`.",
  required: false,
  schema: { type: "integer", minimum: 0, maximum: 999_999_999_999_999 }
} as const

const closeCodes = {
  "1000": "The Run is final and everything was sent.",
  "1011": "The server failed on this stream.",
  "1012": "The server is restarting: connect again.",
  "4401": "The credential is no longer valid.",
  "4403": "The access has ended."
} as const

/** Documents the frames of a live read: over WebSocket after a 101, or as server-sent events. */
export const withFrames = (operation: JsonObject, name: FrameName): JsonObject => {
  const frame = { $ref: `#/components/schemas/${name}Frame` }
  const message = { $ref: `#/components/schemas/${name}Message` }
  const responses = isObject(operation["responses"]) ? operation["responses"] : {}
  const page = isObject(responses["200"]) ? responses["200"] : {}
  const content = isObject(page["content"]) ? page["content"] : {}
  const parameters = Array.isArray(operation["parameters"]) ? operation["parameters"] : []
  return {
    ...operation,
    parameters: [...parameters, lastEventId],
    responses: {
      "101": {
        description:
          "The connection is a WebSocket now. Each message is one frame as JSON text; the one of a server that stops names the `resumeAfter` from which a later connection goes on.",
        headers: {
          "x-request-id": { $ref: "#/components/headers/RequestId" },
          upgrade: { required: true, schema: { type: "string", const: "websocket" } },
          connection: { required: true, schema: { type: "string", const: "Upgrade" } }
        },
        "x-websocket": { message, closeCodes }
      },
      ...responses,
      "200": {
        ...page,
        description:
          "A page; or, with `Accept: text/event-stream`, the sequence as it grows: the data of each event is one frame, its id the last sequence number of that frame.",
        content: { ...content, "text/event-stream": { schema: frame } }
      }
    }
  }
}
