import { html, type Markup, page } from "./oidc/Page.ts"
import type { Language } from "./oidc/PageWords.ts"

const words = {
  en: { title: "You are not signed in", signIn: "Back to sign-in", join: "Back to the invitation", request: "Request" },
  ja: { title: "サインインできませんでした", signIn: "サインインに戻る", join: "招待に戻る", request: "リクエスト" }
} as const satisfies Readonly<Record<Language, unknown>>

const addresses = { signIn: "/sign-in", join: "/join" } as const

export interface SignInRefusal {
  readonly status: number
  readonly body: Markup
  /** The page that this page links to. */
  readonly back?: keyof typeof addresses
  readonly requestId: string
}

/** Creates a page that explains why the person was not signed in. */
export const signInRefusalPage = (language: Language, { back = "signIn", body, requestId, status }: SignInRefusal) => {
  const { request, title, ...ways } = words[language]
  return page({
    language,
    title,
    status,
    body: html`<h1>${title}</h1>${body}<p><a href="${addresses[back]}">${ways[back]}</a></p>
<dl class="quiet"><dt>${request}</dt><dd>${requestId}</dd></dl>`
  })
}

/** Formats a message for a page to which no other page links. Such messages exist only in English. */
export const plainMessage = (message: string): Markup => html`<p lang="en" role="alert">${message}</p>`
