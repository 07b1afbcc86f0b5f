import type { LiveAuthority } from "../../../actors/access/issuer/LiveAuthority.ts"
import type { AuthorizationRequest } from "./AuthorizationRequest.ts"
import { html, type Markup, page, placeOf } from "./Page.ts"
import { type Language, pageWords } from "./PageWords.ts"

export interface ConsentQuestion {
  readonly language: Language
  readonly request: AuthorizationRequest
  readonly permissions: ReadonlyArray<string>
  readonly email: string
  readonly authority: LiveAuthority
  readonly workspaceName: string | undefined
  /** The request and the form's token, both of which the form sends back. */
  readonly encoded: string
  readonly token: string
}

export const permissionList = (language: Language, permissions: ReadonlyArray<string>): Markup => {
  const words = pageWords[language]
  return html`<ul>${permissions.map((scope) => html`<li>${words.scopes[scope] ?? words.otherScope(scope)}</li>`)}</ul>`
}

/** Shows the person who is signed in, and the Workspace in which the client would act for that person. */
export const identityList = (
  language: Language,
  email: string,
  authority: LiveAuthority,
  workspaceName: string | undefined
): Markup => {
  const words = pageWords[language]
  const { workspace } = authority
  return html`<p>${words.signedInAs} <strong>${email}</strong>${
    workspace === undefined
      ? undefined
      : html`<br>${words.workspace(workspaceName ?? workspace.id, words.roles[workspace.role] ?? workspace.role)}`
  }</p>`
}

/** Asks the person whether to allow the client's request. Works without scripts. */
export const consentPage = (question: ConsentQuestion) => {
  const { authority, email, encoded, language, permissions, request, token, workspaceName } = question
  const words = pageWords[language]
  const { name } = request.client
  const place = placeOf(request.redirectUri)
  return page({
    language,
    title: words.consentTitle(name),
    body: html`<h1>${words.consentTitle(name)}</h1>
${identityList(language, email, authority, workspaceName)}
<p id="asks">${words.consentAbout(name)}</p>
${permissionList(language, permissions)}
<form method="post" action="/oauth/consent" aria-describedby="asks">
<input type="hidden" name="request" value="${encoded}"><input type="hidden" name="token" value="${token}">
<div class="actions"><button class="main" name="decision" value="allow">${words.allow}</button><button name="decision" value="deny">${words.deny}</button></div>
<button class="link" name="decision" value="switch">${words.otherAccount}</button>
</form>
<p class="quiet">${words.sendsTo(place)}</p>`
  })
}

/** Shows a refusal to the person. The client is not informed. */
export const refusalPage = (
  language: Language,
  options: { readonly status: number; readonly detail: string; readonly requestId: string }
) => {
  const words = pageWords[language]
  return page({
    language,
    title: words.errorTitle,
    status: options.status,
    body: html`<h1>${words.errorTitle}</h1><p>${words.errorAbout}</p>
<dl class="quiet"><dt>${words.errorDetail}</dt><dd lang="en">${options.detail}</dd><dt>${words.requestId}</dt><dd>${options.requestId}</dd></dl>`
  })
}
