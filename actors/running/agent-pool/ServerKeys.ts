import { createHmac, generateKeyPairSync } from "node:crypto"
import { Context, Effect, Layer, Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { AgentKeys } from "../../../schema/agent/AgentIdentity.ts"
import { rowShape } from "../../base/database/Table.ts"
import { transaction } from "../../base/database/Transaction.ts"
import { now } from "../../base/Identity.ts"
import { Vault } from "../../base/vault/Vault.ts"
import { ServerKeyRow } from "./PoolRows.ts"

const PrivateKey = Schema.Struct({ crv: Schema.String, x: Schema.String, d: Schema.String })
const PrivateKeys = Schema.fromJsonString(Schema.Struct({ sign: PrivateKey, seal: PrivateKey }))
const encodeKeys = Schema.encodeSync(PrivateKeys)
const decodeKeys = Schema.decodeUnknownEffect(PrivateKeys)

/** The server's keys, and the name that identifies the server in sealed messages. */
export interface OwnKeys {
  readonly installationId: string
  readonly keys: AgentKeys
  /** Key that decrypts data which agents have sealed for the server. */
  readonly open: Awaited<ReturnType<typeof crypto.subtle.importKey>>
  /** Signs with Ed25519. Returns the signature in base64url. */
  readonly sign: (text: string) => Effect.Effect<string>
  /** Derives a key for one purpose. The result depends only on the server's keys. */
  readonly derived: (use: string) => Uint8Array
}

const rowId = "current"
const place = { table: "agent_server_keys", column: "sealed_keys", workspaceId: null, rowId }

const OwnId = rowShape({ installation_id: Schema.String })

const generated = (): typeof PrivateKeys.Type => {
  const pair = (type: "ed25519" | "x25519") => {
    const {
      crv = "",
      d = "",
      x = ""
    } = (type === "ed25519" ? generateKeyPairSync("ed25519") : generateKeyPairSync("x25519")).privateKey.export({
      format: "jwk"
    })
    return { crv, x, d }
  }
  return { sign: pair("ed25519"), seal: pair("x25519") }
}

const importJwk = (jwk: JsonWebKey, name: string, uses: ReadonlyArray<KeyUsage>) =>
  Effect.promise(() => crypto.subtle.importKey("jwk", { kty: "OKP", ...jwk }, { name }, false, [...uses]))

/** Imports the receiving agent's key. */
export const sealingKey = (x: string): Effect.Effect<OwnKeys["open"]> => importJwk({ crv: "X25519", x }, "X25519", [])

/**
 * The server's keys for agents. The server creates them when the first agent enrols, and stores them sealed in the database.
 */
export class ServerKeys extends Context.Service<ServerKeys, { readonly own: Effect.Effect<OwnKeys> }>()(
  "svc/actors/running/agent-pool/ServerKeys"
) {
  static readonly layer = Layer.effect(
    ServerKeys,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const vault = yield* Vault

      const stored = Effect.gen(function* () {
        const [known] = yield* ServerKeyRow.rows(sql)`SELECT * FROM agent_server_keys WHERE id = ${rowId}`
        if (known !== undefined) return known.sealed_keys
        const made = generated()
        const sealed = yield* vault.seal(place, Redacted.make(encodeKeys(made)))
        yield* sql`INSERT INTO agent_server_keys ${ServerKeyRow.values(sql, {
          id: rowId,
          sign_key: made.sign.x,
          seal_key: made.seal.x,
          sealed_keys: sealed,
          created_at: yield* now
        })}`
        return sealed
      }).pipe(transaction(sql))

      const load = Effect.gen(function* () {
        const [installation] = yield* OwnId.rows(sql)`SELECT installation_id FROM installation`
        const { seal, sign } = yield* decodeKeys(Redacted.value(yield* vault.openText(place, yield* stored)))
        const signing = yield* importJwk(sign, "Ed25519", ["sign"])
        const secret = createHmac("sha256", "svc-agent-derived-keys-v1").update(seal.d).digest()
        return {
          installationId: installation?.installation_id ?? "",
          keys: { sign: sign.x, seal: seal.x },
          open: yield* importJwk(seal, "X25519", ["deriveBits"]),
          sign: (text: string) =>
            Effect.promise(() => crypto.subtle.sign("Ed25519", signing, new TextEncoder().encode(text))).pipe(
              Effect.map((signature) => Buffer.from(signature).toString("base64url"))
            ),
          derived: (use: string) => new Uint8Array(createHmac("sha256", secret).update(use).digest())
        }
      }).pipe(Effect.orDie)

      return ServerKeys.of({ own: yield* Effect.cached(load) })
    })
  )
}
