import type { ApiError } from "../../schema/errors/ApiError.ts"
import { html, page } from "../accounts/oidc/Page.ts"
import { type Language, pageLanguage } from "../accounts/oidc/PageWords.ts"

const words = {
  en: { title: "The connection was not made", back: "Back to svc", request: "Request" },
  ja: { title: "接続は作成されませんでした", back: "svc に戻る", request: "リクエスト" }
} as const satisfies Readonly<Record<Language, unknown>>

/** Returns true if the client accepts HTML, as browsers do when they open a page. */
export const takesHtml = (accept: string | undefined): boolean =>
  accept?.split(",").some((kind) => kind.trim().toLowerCase().startsWith("text/html")) === true

/** Shows an error page to a person whom another server has sent back. */
export const landingPage = (acceptLanguage: string | undefined) => (error: ApiError, requestId: string) => {
  const language = pageLanguage(undefined, acceptLanguage)
  const { back, request, title } = words[language]
  return page({
    language,
    title,
    status: error.status,
    body: html`<h1>${title}</h1><p lang="en" role="alert">${error.message}</p><p><a href="/">${back}</a></p>
<dl class="quiet"><dt>${request}</dt><dd>${requestId}</dd></dl>`
  })
}
