import { Schema } from "effect"
import { InterfaceBindingId, InterfaceId, Subject } from "./Ids.ts"

export class InterfaceBinding extends Schema.Opaque<InterfaceBinding>()(
  Schema.Struct({
    id: InterfaceBindingId,
    interfaceId: InterfaceId,
    subject: Subject,
    permissions: Schema.Array(Schema.String),
    delivery: Schema.Struct({ type: Schema.String }),
    status: Schema.Literals(["pending", "ready", "not_ready", "revoked"])
  }).annotate({ identifier: "InterfaceBinding" })
) {}
