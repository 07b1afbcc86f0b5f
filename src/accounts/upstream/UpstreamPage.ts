import { html, page } from "../oidc/Page.ts"
import type { Language } from "../oidc/PageWords.ts"

const words = {
  en: { title: "You are not signed in", back: "Back to sign-in", request: "Request" },
  ja: { title: "サインインできませんでした", back: "サインインに戻る", request: "リクエスト" }
} as const satisfies Readonly<Record<Language, unknown>>

/** Explains to the person at the browser why the provider's answer did not sign them in. */
export const upstreamRefusalPage = (
  language: Language,
  refusal: { readonly status: number; readonly message: string; readonly requestId: string }
) => {
  const { back, request, title } = words[language]
  return page({
    language,
    title,
    status: refusal.status,
    body: html`<h1>${title}</h1><p lang="en" role="alert">${refusal.message}</p><p><a href="/sign-in">${back}</a></p>
<dl class="quiet"><dt>${request}</dt><dd>${refusal.requestId}</dd></dl>`
  })
}
