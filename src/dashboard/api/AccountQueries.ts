import { queryOptions } from "@tanstack/react-query"
import { call } from "./Call.ts"
import { get } from "./Client.ts"
import { accountTokensList, accountTokensScopes } from "./Endpoints.ts"
import type { AccountNotice, AccountSession, ApplicationGrant, Confirmation, LinkedIdentity, Passkey } from "./Types.ts"

export const tokensQuery = queryOptions({
  queryKey: ["tokens"],
  queryFn: ({ signal }) => call(accountTokensList, { signal }).then(({ tokens }) => tokens)
})

export const tokenScopesQuery = queryOptions({
  queryKey: ["token-scopes"],
  queryFn: ({ signal }) => call(accountTokensScopes, { signal }).then(({ scopes }) => scopes),
  staleTime: 600_000
})

export const sessionsQuery = queryOptions({
  queryKey: ["sessions"],
  queryFn: ({ signal }) =>
    get<{ sessions: ReadonlyArray<AccountSession> }>("/auth/sessions", {}, signal).then(({ sessions }) => sessions)
})

export const confirmationQuery = queryOptions({
  queryKey: ["confirmation"],
  queryFn: ({ signal }) => get<Confirmation>("/auth/confirmation", {}, signal)
})

export const noticesQuery = queryOptions({
  queryKey: ["account-notices"],
  queryFn: ({ signal }) =>
    get<{ notices: ReadonlyArray<AccountNotice> }>("/auth/notices", {}, signal).then(({ notices }) => notices)
})

export const secondFactorQuery = queryOptions({
  queryKey: ["second-factor"],
  queryFn: ({ signal }) =>
    get<{ readonly active: boolean; readonly recoveryCodes: number }>("/auth/second-factor", {}, signal)
})

export const passkeysQuery = queryOptions({
  queryKey: ["passkeys"],
  queryFn: ({ signal }) =>
    get<{ passkeys: ReadonlyArray<Passkey> }>("/auth/passkeys", {}, signal).then(({ passkeys }) => passkeys)
})

export const identitiesQuery = queryOptions({
  queryKey: ["identities"],
  queryFn: ({ signal }) =>
    get<{ identities: ReadonlyArray<LinkedIdentity> }>("/auth/upstream/identities", {}, signal).then(
      ({ identities }) => identities
    )
})

export const grantsQuery = queryOptions({
  queryKey: ["grants"],
  queryFn: ({ signal }) =>
    get<{ grants: ReadonlyArray<ApplicationGrant> }>("/auth/grants", {}, signal).then(({ grants }) => grants)
})
