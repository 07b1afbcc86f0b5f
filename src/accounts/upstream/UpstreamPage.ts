import type { UpstreamRefused } from "../../../actors/access/account/UpstreamRefusal.ts"
import type { ApiError, ErrorCode } from "../../../schema/errors/ApiError.ts"
import { html } from "../oidc/Page.ts"
import type { Language } from "../oidc/PageWords.ts"
import { plainMessage, signInRefusalPage } from "../SignInRefusalPage.ts"
import { type PageReason, refusalStatus, refusalWords } from "./UpstreamWords.ts"

const unnamed = { en: "The sign-in provider", ja: "サインインプロバイダー" } as const

const reasonsOfErrors: Partial<Record<ErrorCode, PageReason>> = {
  rate_limited: "too_many",
  csrf_failed: "foreign_page",
  unauthenticated: "signed_out"
}

const statusOf = (refusal: ApiError | UpstreamRefused) =>
  refusal._tag === "ApiError" ? refusal.status : refusalStatus[refusal.reason]

/** Creates a page that explains why the sign-in failed, and what the person can do. */
export const upstreamRefusalPage = (
  language: Language,
  refusal: ApiError | UpstreamRefused,
  { providerName, requestId }: { readonly providerName: string | undefined; readonly requestId: string }
) => {
  const reason = refusal._tag === "ApiError" ? reasonsOfErrors[refusal.code] : refusal.reason
  if (reason === undefined) {
    return signInRefusalPage(language, { status: statusOf(refusal), body: plainMessage(refusal.message), requestId })
  }
  const { next, what } = refusalWords[language][reason]
  const name = providerName ?? unnamed[language]
  return signInRefusalPage(language, {
    status: statusOf(refusal),
    body: html`<p role="alert">${what(name)}</p><p>${next(name)}</p>`,
    // Link back to the invitation page. The page stores the secret in the tab, so that the secret does not appear in an
    // address.
    back: reason.startsWith("invitation_") ? "join" : "signIn",
    requestId
  })
}
