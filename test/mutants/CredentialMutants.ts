import type { Mutant } from "./Mutant.ts"

const singleUse = "test/actors/access/issuer/SingleUse.test.ts"
const handoffs = "test/actors/commands/handoff/Handoffs.test.ts"
const accessTokens = "test/actors/access/account/AccessTokens.test.ts"
const revokedReads = "test/src/http/RevokedReads.test.ts"
const cursors = "test/actors/base/paging/Cursors.test.ts"
const receipts = "test/actors/base/idempotency/Receipts.test.ts"
const origins = "test/schema/records/CredentialOrigin.test.ts"
const use = "test/actors/inputs/connection/ConnectionUse.test.ts"
const codesFile = "actors/access/issuer/AuthorizationCodes.ts"
const refreshFile = "actors/access/issuer/RefreshTokens.ts"
const devicesFile = "actors/access/issuer/DeviceCodes.ts"
const linksFile = "actors/access/account/SetupLinks.ts"
const ticketsFile = "actors/commands/handoff/SetupTickets.ts"
const cursorsFile = "actors/base/paging/Cursors.ts"
const receiptsFile = "actors/base/idempotency/Receipts.ts"
const originFile = "schema/records/CredentialOrigin.ts"
const useFile = "actors/inputs/connection/ConnectionUse.ts"

/** Mutants of the permissions, limits and lifetimes of bearer tokens, cursors, keys and Connections. */
export const credentialMutants: ReadonlyArray<Mutant> = [
  {
    name: "code: single use",
    file: codesFile,
    text: "row.used_at !== null",
    broken: `row.used_at === ""`,
    test: singleUse
  },
  {
    name: "code: expiry",
    file: codesFile,
    text: "row.expires_at <= at",
    broken: `row.expires_at === ""`,
    test: singleUse
  },
  {
    name: "code: its client",
    file: codesFile,
    text: "row === undefined || row.client_id !== clientId",
    broken: "row === undefined",
    test: singleUse
  },
  {
    name: "code: its redirect",
    file: codesFile,
    text: "row.redirect_uri !== redirectUri",
    broken: `row.redirect_uri === ""`,
    test: singleUse
  },
  {
    name: "refresh token: single use",
    file: refreshFile,
    text: "if (row.used_at !== null) {",
    broken: `if (row.used_at === "") {`,
    test: singleUse
  },
  {
    name: "refresh token: expiry",
    file: refreshFile,
    text: "row.expires_at > (yield* now)",
    broken: "row.expires_at !== (yield* now)",
    test: singleUse
  },
  {
    name: "refresh token: one successor",
    file: refreshFile,
    text: "AND used_at IS NULL RETURNING grant_id",
    broken: "RETURNING grant_id",
    test: singleUse
  },
  {
    name: "device: settled once",
    file: devicesFile,
    text: "WHERE secret_hash = ${id} AND status = 'pending'",
    broken: "WHERE secret_hash = ${id}",
    test: singleUse
  },
  {
    name: "device: expiry",
    file: devicesFile,
    text: "if (row.expires_at <= at)",
    broken: "if (row.expires_at === at)",
    test: singleUse
  },
  {
    name: "device: tokens once",
    file: devicesFile,
    text: `row.status === "used"`,
    broken: `row.status === "denied"`,
    test: singleUse
  },
  {
    name: "setup link: expiry",
    file: linksFile,
    text: "WHERE secret_hash = ${hash} AND used_at IS NULL AND expires_at > ${at} AND",
    broken: "WHERE secret_hash = ${hash} AND used_at IS NULL AND",
    test: "test/src/accounts/PasskeySetup.test.ts"
  },
  {
    name: "ticket: single use",
    file: ticketsFile,
    text: "AND used_at IS NULL AND expires_at > ${at}",
    broken: "AND expires_at > ${at}",
    test: handoffs
  },
  {
    name: "ticket: expiry",
    file: ticketsFile,
    text: "AND used_at IS NULL AND expires_at > ${at}",
    broken: "AND used_at IS NULL",
    test: handoffs
  },
  {
    name: "token: expiry",
    file: "actors/access/account/TokenAuthority.ts",
    text: " || found.usable.value.expiresAt <= millis",
    broken: "",
    test: accessTokens
  },
  {
    name: "session: expiry",
    file: "actors/access/account/Sessions.ts",
    text: " || session.expiresMillis <= millis",
    broken: "",
    test: revokedReads
  },
  {
    name: "remembered authority: forgotten at a commit",
    file: "src/database/SharedReads.ts",
    text: "for (const clear of forget) clear()",
    broken: "void forget",
    test: revokedReads
  },
  {
    name: "remembered authority: compared with the commits of every request",
    file: "src/database/SharedReads.ts",
    text: "    compareVersion()\n    isHeld = true",
    broken: "    isHeld = true",
    test: revokedReads
  },
  {
    name: "remembered authority: compared again for requests that arrive later",
    file: "src/database/SharedReads.ts",
    text: "    end()\n    isTurn = true\n    setImmediate(end)\n",
    broken: "    isTurn = true\n",
    test: "test/src/http/ArrivingReads.test.ts"
  },
  {
    name: "OAuth token: expired since it was remembered",
    file: "actors/access/issuer/TokenInspection.ts",
    text: " || row.expiresMillis <= (yield* Clock.currentTimeMillis)",
    broken: "",
    test: revokedReads
  },
  {
    name: "read transaction: renewed by each request",
    file: "src/http/CommonHeaders.ts",
    text: "snapshot.renew()",
    broken: "",
    test: revokedReads
  },
  {
    name: "token: revoked",
    file: "actors/access/account/TokenAuthority.ts",
    text: " && row.revoked_at === null",
    broken: "",
    test: accessTokens
  },
  {
    name: "token: known to one store only",
    file: "actors/access/account/TokenAuthority.ts",
    text: "row.elsewhere === 0 && ",
    broken: "",
    test: "test/actors/access/account/TokenAuthority.test.ts"
  },
  {
    name: "secret: its checksum",
    file: "actors/base/credential/BearerSecret.ts",
    text: "return checksum(text.slice(0, -checksumLength)) === text.slice(-checksumLength)",
    broken: "return true",
    test: "test/actors/base/credential/BearerSecret.test.ts"
  },
  {
    name: "cursor: its key",
    file: cursorsFile,
    text: `if (!(yield* vault.verifyMac("cursor", signedText(binding, payload), digest))) return yield* refused()`,
    broken: "",
    test: cursors
  },
  {
    name: "cursor: its list",
    file: cursorsFile,
    text: "JSON.stringify([binding.route, binding.subject,",
    broken: "JSON.stringify([binding.subject,",
    test: cursors
  },
  {
    name: "cursor: its subject",
    file: cursorsFile,
    text: "JSON.stringify([binding.route, binding.subject,",
    broken: "JSON.stringify([binding.route,",
    test: cursors
  },
  {
    name: "cursor: its filter",
    file: cursorsFile,
    text: "...(binding.filter ?? []).map((part) => part ?? null), payload",
    broken: "payload",
    test: cursors
  },
  {
    name: "receipt: another request",
    file: receiptsFile,
    text: "stored.requestDigest !== (yield* keyed(request))",
    broken: `stored.requestDigest === ""`,
    test: receipts
  },
  {
    name: "receipt: its Workspace",
    file: receiptsFile,
    text: "WHERE scope = ${scope} AND actor",
    broken: "WHERE actor",
    test: receipts
  },
  {
    name: "receipt: its actor",
    file: receiptsFile,
    text: "AND actor = ${actor} AND",
    broken: "AND",
    test: receipts
  },
  {
    name: "receipt: its route",
    file: receiptsFile,
    text: "AND route = ${route} AND",
    broken: "AND",
    test: receipts
  },
  {
    name: "receipt: written with what it is for",
    file: receiptsFile,
    text: "yield* record(scope, request, created.receipt)",
    broken: "",
    test: receipts
  },
  {
    name: "origin: the server",
    file: originFile,
    text: "origin.origin === address.origin &&",
    broken: "",
    test: origins
  },
  {
    name: "origin: the path",
    file: originFile,
    text: "origin.segments.every((segment, index) => segment === address.segments[index]) &&",
    broken: "",
    test: origins
  },
  {
    name: "origin: ambiguous paths",
    file: originFile,
    text: " &&\n  (origin.segments.length === 0 || !address.segments.some(isAmbiguous))",
    broken: "",
    test: origins
  },
  {
    name: "use: the role",
    file: useFile,
    text: "if (role === undefined || !rule.roles.some((granted) => roleAtLeast(role, granted)))",
    broken: "if (role === undefined)",
    test: use
  },
  {
    name: "use: another ref in person",
    file: useFile,
    text: "automatic: attempt.automatic",
    broken: "automatic: false",
    test: use
  }
]
