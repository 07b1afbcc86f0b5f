import { Cause, Clock, Context, DateTime, Duration, Effect, Fiber, Layer, Option, Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { calculateJwkThumbprint, CompactSign, compactVerify, decodeProtectedHeader, exportJWK, importJWK } from "jose"
import { type ApiError, failedPrecondition } from "../../../schema/errors/ApiError.ts"
import { Audit } from "../../base/audit/Audit.ts"
import type { CommandContext } from "../../../schema/commands/Command.ts"
import { ReadSql } from "../../base/database/ReadSql.ts"
import { transaction } from "../../base/database/Transaction.ts"
import { now } from "../../base/Identity.ts"
import { Vault } from "../../base/vault/Vault.ts"
import { type SigningAlgorithm, signingAlgorithms } from "./Client.ts"
import { lifetimes } from "./Lifetimes.ts"
import { type RowOf, rowShape, table } from "../../base/database/Table.ts"
import { Timestamp } from "../../../schema/records/Primitives.ts"
import { generateKeyPair, type KeyObject } from "node:crypto"
import { promisify } from "node:util"

/** A new key pair as two JWKs in JSON. */
export interface NewKey {
  readonly kid: string
  readonly algorithm: SigningAlgorithm
  readonly publicJwk: string
  readonly privateJwk: string
}

// Used instead of WebCrypto, because generating an RSA key with WebCrypto would make other WebCrypto operations wait.
const newPair = promisify(generateKeyPair)
const pairOf = (
  algorithm: SigningAlgorithm
): Promise<{ readonly publicKey: KeyObject; readonly privateKey: KeyObject }> =>
  algorithm === "RS256" ? newPair("rsa", { modulusLength: 2048 }) : newPair("ec", { namedCurve: "P-256" })

/** Generates a key pair on another thread. Call it outside a transaction, because generating an RSA key takes a while. */
const generateKey = Effect.fn("generateKey")(function* (algorithm: SigningAlgorithm) {
  const pair = yield* Effect.promise(() => pairOf(algorithm))
  const publicJwk = yield* Effect.promise(() => exportJWK(pair.publicKey))
  const privateJwk = yield* Effect.promise(() => exportJWK(pair.privateKey))
  const kid = yield* Effect.promise(() => calculateJwkThumbprint(publicJwk))
  const made: NewKey = { kid, algorithm, publicJwk: JSON.stringify(publicJwk), privateJwk: JSON.stringify(privateJwk) }
  return made
})

/** Generates the key pairs of the issuer. */
export const KeyGeneration = Context.Reference<{
  readonly generate: (algorithm: SigningAlgorithm) => Effect.Effect<NewKey>
}>("svc/actors/access/issuer/KeyGeneration", { defaultValue: () => ({ generate: generateKey }) })

/** Signing keys. `private_jwk` is sealed. */
export const SigningKeyRow = table("oidc_signing_keys", {
  kid: Schema.String,
  algorithm: Schema.Literals(["RS256", "ES256"]),
  status: Schema.Literals(["next", "active", "retired", "revoked"]),
  public_jwk: Schema.String,
  private_jwk: Schema.String,
  published_at: Timestamp,
  activated_at: Schema.NullOr(Timestamp),
  retired_at: Schema.NullOr(Timestamp)
})
type SigningKeyRow = RowOf<typeof SigningKeyRow.columns>

const ActiveSince = rowShape({ since: SigningKeyRow.columns.activated_at })

/** The time for which clients may cache the key set. A key is published for at least this time before it signs. */
export const keySetMaxAge = Duration.minutes(10)
// The time for which a retired key remains published. It is longer than the maximum lifetime of a token plus the permitted
// clock skew.
const publishedAfterRetirement = Duration.sum(lifetimes.idToken, Duration.days(1))

const PublicJwk = Schema.Record(Schema.String, Schema.String)
export type PublicJwk = typeof PublicJwk.Type
const decodePublic = Schema.decodeUnknownSync(Schema.fromJsonString(PublicJwk))
const decodePrivate = Schema.decodeUnknownEffect(Schema.fromJsonString(PublicJwk))

const sealPlace = (kid: string) => ({
  table: "oidc_signing_keys",
  column: "private_jwk",
  workspaceId: null,
  rowId: kid
})

const publicMembers = ["kty", "n", "e", "crv", "x", "y"]

/** A JWT whose signature by this issuer is valid. It may have expired. */
export interface VerifiedJwt {
  readonly type: string | undefined
  readonly claims: unknown
}

const parseClaims = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Json))

/** Keys for ID tokens and resource tokens. The next key is published while the active key signs. */
export class SigningKeys extends Context.Service<
  SigningKeys,
  {
    /**
     * Returns the public keys: the next keys, the active keys, and each retired key until everything that it signed has
     * expired. In a new installation, waits until the keys exist.
     */
    readonly keySet: Effect.Effect<ReadonlyArray<PublicJwk>, SqlError>
    /**
     * Signs `claims` as a JWT of type `typ`, with the active key of the algorithm. In a new installation, waits until the key has
     * been generated and stores it in the current transaction, so that the JWT can be verified after the commit.
     */
    readonly sign: (
      algorithm: SigningAlgorithm,
      type: string | undefined,
      claims: Readonly<Record<string, Schema.Json>>
    ) => Effect.Effect<string, SqlError>
    /** Returns the claims of a JWT with a valid signature by this issuer; otherwise `undefined`. Does not check timestamps. */
    readonly verify: (jwt: string) => Effect.Effect<VerifiedJwt | undefined, SqlError>
    /**
     * Makes the next keys active and publishes new next keys. Fails with `failed_precondition` if clients may not have seen the
     * next keys yet. If `compromised` is set, does not wait, and removes the old keys from the key set immediately.
     */
    readonly rotate: (
      context: CommandContext,
      options?: { readonly compromised: boolean }
    ) => Effect.Effect<{ readonly activeKeyIds: ReadonlyArray<string> }, ApiError>
    /**
     * Returns the time at which the oldest active key started signing. In a new installation, waits until the keys exist.
     */
    readonly activeSince: Effect.Effect<string, SqlError>
  }
>()("svc/actors/access/issuer/SigningKeys") {
  /**
   * Generates missing keys in the background, because generating an RSA key takes about as long as the rest of the startup.
   * Only callers that need a key have to wait.
   */
  static readonly layer = Layer.effect(
    SigningKeys,
    Effect.suspend(() => make)
  )
}

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const read = yield* ReadSql
  const vault = yield* Vault
  const audit = yield* Audit
  const signers = new Map<string, CryptoKey>()
  const verifiers = new Map<string, CryptoKey>()

  const imported = Effect.fnUntraced(function* (jwk: PublicJwk, algorithm: SigningAlgorithm) {
    const key = yield* Effect.promise(() => importJWK(jwk, algorithm))
    return key instanceof Uint8Array ? yield* Effect.die(new Error("A signing key is symmetric")) : key
  })

  const { generate } = yield* KeyGeneration

  const insert = Effect.fnUntraced(function* (key: NewKey, status: "active" | "next") {
    const at = yield* now
    yield* sql`INSERT INTO oidc_signing_keys ${SigningKeyRow.values(sql, {
      kid: key.kid,
      algorithm: key.algorithm,
      status,
      public_jwk: key.publicJwk,
      private_jwk: yield* vault.seal(sealPlace(key.kid), Redacted.make(key.privateJwk)),
      published_at: at,
      activated_at: status === "active" ? at : null,
      retired_at: null
    })} ON CONFLICT (kid) DO NOTHING`
  })

  const withStatus = (client: SqlClient.SqlClient, algorithm: SigningAlgorithm, status: SigningKeyRow["status"]) =>
    Effect.map(
      SigningKeyRow.some(
        client,
        "kid",
        "algorithm",
        "status",
        "public_jwk",
        "private_jwk",
        "published_at"
      )`SELECT kid, algorithm, status, public_jwk, private_jwk, published_at FROM oidc_signing_keys
        WHERE algorithm = ${algorithm} AND status = ${status}`,
      (rows) => rows[0]
    )

  const wanted = signingAlgorithms.flatMap((algorithm) =>
    (["active", "next"] as const).map((status) => ({ algorithm, status }))
  )
  const missing = yield* Effect.filter(wanted, ({ algorithm, status }) =>
    Effect.map(withStatus(sql, algorithm, status), (row) => row === undefined)
  )
  const made = (status: "active" | "next") =>
    Effect.forEach(
      missing.filter((key) => key.status === status),
      ({ algorithm }) => generate(algorithm),
      { concurrency: "unbounded" }
    )
  const active = yield* Effect.forkScoped(made("active"))
  // Generate the next keys only after the active keys, because the CPUs are already busy during startup.
  const next = yield* Effect.forkScoped(Effect.andThen(Fiber.await(active), made("next")))
  const begun = { active, next }

  // Stores the keys in a step that is separate from their generation, because a caller that waits for a key may hold the
  // transaction in which the key must be stored.
  const store = Effect.fn("SigningKeys.store")(function* (status: "active" | "next") {
    const keys = yield* Fiber.join(begun[status])
    yield* Effect.forEach(keys, (key) => insert(key, status), { discard: true }).pipe(transaction(sql))
  })

  let isComplete = missing.length === 0
  const complete = Effect.gen(function* () {
    if (isComplete) return
    yield* store("active")
    yield* store("next")
    isComplete = true
  })
  yield* complete.pipe(
    Effect.tapCause((cause) =>
      Cause.hasInterruptsOnly(cause)
        ? Effect.void
        : Effect.logWarning("The first signing keys could not be stored. Whatever needs them tries again.", cause)
    ),
    Effect.forkScoped
  )

  const keySet = Effect.gen(function* () {
    yield* complete
    const since = DateTime.formatIso(DateTime.subtractDuration(yield* DateTime.now, publishedAfterRetirement))
    const rows = yield* SigningKeyRow.some(
      read,
      "kid",
      "algorithm",
      "public_jwk"
    )`SELECT kid, algorithm, public_jwk FROM oidc_signing_keys
      WHERE status IN ('active', 'next') OR (status = 'retired' AND retired_at > ${since})
      ORDER BY status, algorithm DESC, published_at`
    return rows.map(({ algorithm, kid, public_jwk }): PublicJwk => {
      const jwk = decodePublic(public_jwk)
      // Copies only the listed members, so that no private member can be published.
      const members = publicMembers.flatMap((name) => (jwk[name] === undefined ? [] : [[name, jwk[name]]]))
      return { ...Object.fromEntries(members), kid, alg: algorithm, use: "sig" }
    })
  })

  const signer = Effect.fnUntraced(function* (row: Pick<SigningKeyRow, "kid" | "algorithm" | "private_jwk">) {
    const cached = signers.get(row.kid)
    if (cached !== undefined) return cached
    const opened = yield* Effect.orDie(vault.openText(sealPlace(row.kid), row.private_jwk))
    const made = yield* imported(yield* Effect.orDie(decodePrivate(Redacted.value(opened))), row.algorithm)
    const key = signers.get(row.kid) ?? made
    signers.set(row.kid, key)
    return key
  })

  const verifier = Effect.fnUntraced(function* (row: Pick<SigningKeyRow, "kid" | "algorithm" | "public_jwk">) {
    const cached = verifiers.get(row.kid)
    if (cached !== undefined) return cached
    const made = yield* imported(decodePublic(row.public_jwk), row.algorithm)
    const key = verifiers.get(row.kid) ?? made
    verifiers.set(row.kid, key)
    return key
  })

  const sign = Effect.fn("SigningKeys.sign")(function* (
    algorithm: SigningAlgorithm,
    type: string | undefined,
    claims: Readonly<Record<string, Schema.Json>>
  ) {
    const active = withStatus(sql, algorithm, "active")
    const row = (yield* active) ?? (yield* Effect.andThen(store("active"), active))
    if (row === undefined) return yield* Effect.die(new Error(`There is no active ${algorithm} key`))
    const key = yield* signer(row)
    const header = { alg: algorithm, kid: row.kid, ...(type === undefined ? {} : { typ: type }) }
    const payload = new TextEncoder().encode(JSON.stringify(claims))
    return yield* Effect.promise(() => new CompactSign(payload).setProtectedHeader(header).sign(key))
  })

  const verify = Effect.fn("SigningKeys.verify")(function* (jwt: string) {
    const header = yield* Effect.option(Effect.try(() => decodeProtectedHeader(jwt)))
    if (Option.isNone(header)) return undefined
    // Uses `kid` only to select one of the issuer's own keys. A JWT header can never supply a key.
    const [row] = yield* SigningKeyRow.some(
      read,
      "kid",
      "algorithm",
      "public_jwk"
    )`SELECT kid, algorithm, public_jwk FROM oidc_signing_keys
      WHERE kid = ${header.value.kid ?? ""} AND algorithm = ${header.value.alg ?? ""} AND status <> 'revoked'`
    if (row === undefined) return undefined
    const key = yield* verifier(row)
    const verified = yield* Effect.option(
      Effect.tryPromise(() => compactVerify(jwt, key, { algorithms: [row.algorithm] }))
    )
    if (Option.isNone(verified)) return undefined
    const claims = parseClaims(new TextDecoder().decode(verified.value.payload))
    return Option.isNone(claims) ? undefined : { type: verified.value.protectedHeader.typ, claims: claims.value }
  })

  const rotate = Effect.fn("SigningKeys.rotate")(function* (
    context: CommandContext,
    options?: { readonly compromised: boolean }
  ) {
    const compromised = options?.compromised === true
    yield* complete
    const following = yield* Effect.forEach(signingAlgorithms, generate)
    return yield* Effect.gen(function* () {
      const latest = (yield* Clock.currentTimeMillis) - Duration.toMillis(keySetMaxAge)
      const activeKeyIds: Array<string> = []
      for (const key of following) {
        const next = yield* withStatus(sql, key.algorithm, "next")
        if (next === undefined) return yield* Effect.die(new Error(`There is no next ${key.algorithm} key`))
        if (!compromised && Date.parse(next.published_at) > latest) {
          return yield* failedPrecondition(
            "The next signing keys were published too recently for every client to know them. Rotate again in ten minutes."
          )
        }
        yield* sql`UPDATE oidc_signing_keys SET ${SigningKeyRow.changes(sql, {
          status: compromised ? "revoked" : "retired",
          retired_at: yield* now
        })} WHERE algorithm = ${key.algorithm} AND (status = 'active' OR (status = 'retired' AND ${compromised ? 1 : 0} = 1))`
        yield* sql`UPDATE oidc_signing_keys SET status = 'active', activated_at = ${yield* now} WHERE kid = ${next.kid}`
        yield* insert(key, "next")
        activeKeyIds.push(next.kid)
      }
      yield* audit.append({
        workspaceId: null,
        actor: context.actor,
        action: "identity.keys.rotate",
        target: { kind: "signing_key", id: activeKeyIds.join(",") },
        data: { compromised },
        requestId: context.requestId
      })
      return { activeKeyIds }
    }).pipe(transaction(sql))
  })

  return SigningKeys.of({
    keySet,
    sign,
    verify,
    rotate,
    activeSince: complete.pipe(
      Effect.andThen(
        ActiveSince.rows(read)`SELECT MIN(activated_at) AS since FROM oidc_signing_keys WHERE status = 'active'`
      ),
      Effect.map((rows) => rows[0]?.since ?? "")
    )
  })
})
