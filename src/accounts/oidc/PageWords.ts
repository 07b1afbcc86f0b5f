export type Language = "en" | "ja"

/** Texts of the pages that continue to an application. */
export interface PageWords {
  readonly consentTitle: (client: string) => string
  readonly consentAbout: (client: string) => string
  readonly signedInAs: string
  readonly workspace: (name: string, role: string) => string
  readonly allow: string
  readonly deny: string
  readonly otherAccount: string
  readonly sendsTo: (place: string) => string
  readonly scopes: Readonly<Record<string, string>>
  readonly otherScope: (scope: string) => string
  readonly errorTitle: string
  readonly errorAbout: string
  readonly errorDetail: string
  readonly requestId: string
  readonly deviceTitle: string
  readonly deviceAbout: string
  readonly deviceCode: string
  readonly deviceContinue: string
  readonly deviceUnknown: string
  readonly deviceConfirm: (client: string) => string
  readonly deviceWarning: string
  readonly deviceApproved: string
  readonly deviceDenied: string
  readonly logoutTitle: string
  readonly logoutAsk: string
  readonly logoutConfirm: string
  readonly logoutStay: string
  readonly logoutDone: string
  readonly logoutNothing: string
  readonly stayedSignedIn: string
  readonly roles: Readonly<Record<string, string>>
}

const en: PageWords = {
  consentTitle: (client) => `Sign in to ${client}`,
  consentAbout: (client) => `${client} asks for:`,
  signedInAs: "Signed in as",
  workspace: (name, role) => `In the Workspace ${name}, as ${role}`,
  allow: "Allow",
  deny: "Cancel",
  otherAccount: "Use another account",
  sendsTo: (place) => `Afterwards you are sent to ${place}.`,
  scopes: {
    openid: "Who you are (an identifier)",
    profile: "Your name",
    email: "Your e-mail address",
    groups: "Your roles in Workspaces",
    offline_access: "Access while you are away, until you revoke it",
    workspaces: "Which Workspaces you belong to",
    read: "Reading what you can see",
    write: "Making the changes that your role allows"
  },
  otherScope: (scope) => `Its own permission “${scope}”`,
  errorTitle: "This sign-in cannot go on",
  errorAbout: "The application sent a request that is not valid. Go back to it and try again, or tell its operator.",
  errorDetail: "Detail",
  requestId: "Request",
  deviceTitle: "Connect a device",
  deviceAbout: "Enter the code that your device or terminal shows.",
  deviceCode: "Code",
  deviceContinue: "Continue",
  deviceUnknown: "This code is unknown or has expired. Look at your device again.",
  deviceConfirm: (client) => `${client} wants to act for you on another device`,
  deviceWarning:
    "Allow this only if you started it yourself, and the code on your device is the one shown here. Nobody will ever ask you to enter a code for them.",
  deviceApproved: "The device is connected. You can close this page.",
  deviceDenied: "The device was refused. You can close this page.",
  logoutTitle: "Sign out",
  logoutAsk: "Do you want to sign out?",
  logoutConfirm: "Sign out",
  logoutStay: "Stay signed in",
  logoutDone: "You are signed out.",
  logoutNothing: "You were not signed in.",
  stayedSignedIn: "You are still signed in.",
  roles: { owner: "owner", admin: "admin", member: "member", viewer: "viewer" }
}

const ja: PageWords = {
  consentTitle: (client) => `${client} にサインイン`,
  consentAbout: (client) => `${client} は次の許可を求めています。`,
  signedInAs: "サインイン中のアカウント",
  workspace: (name, role) => `ワークスペース ${name}(役割: ${role})`,
  allow: "許可する",
  deny: "キャンセル",
  otherAccount: "別のアカウントを使う",
  sendsTo: (place) => `このあと ${place} に移動します。`,
  scopes: {
    openid: "あなたを識別する ID",
    profile: "名前",
    email: "メールアドレス",
    groups: "ワークスペースでの役割",
    offline_access: "取り消すまで、離席中もアクセスする",
    workspaces: "所属するワークスペース",
    read: "あなたが見られる情報の読み取り",
    write: "あなたの役割で許される変更"
  },
  otherScope: (scope) => `アプリ独自の許可「${scope}」`,
  errorTitle: "サインインを続けられません",
  errorAbout: "アプリからの要求が正しくありません。アプリに戻ってやり直すか、運営者に連絡してください。",
  errorDetail: "詳細",
  requestId: "リクエスト",
  deviceTitle: "デバイスを接続",
  deviceAbout: "デバイスまたはターミナルに表示されたコードを入力してください。",
  deviceCode: "コード",
  deviceContinue: "次へ",
  deviceUnknown: "コードが正しくないか、期限が切れています。デバイスをもう一度確認してください。",
  deviceConfirm: (client) => `${client} が別のデバイスであなたとして操作することを求めています`,
  deviceWarning:
    "自分で始めた操作で、デバイスのコードがここに表示されたものと同じ場合だけ許可してください。他の人のためにコードを入力するよう求められることはありません。",
  deviceApproved: "デバイスを接続しました。このページは閉じてかまいません。",
  deviceDenied: "デバイスを拒否しました。このページは閉じてかまいません。",
  logoutTitle: "サインアウト",
  logoutAsk: "サインアウトしますか?",
  logoutConfirm: "サインアウトする",
  logoutStay: "サインインしたままにする",
  logoutDone: "サインアウトしました。",
  logoutNothing: "サインインしていません。",
  stayedSignedIn: "サインインしたままです。",
  roles: { owner: "オーナー", admin: "管理者", member: "メンバー", viewer: "閲覧者" }
}

export const pageWords: Readonly<Record<Language, PageWords>> = { en, ja }

/**
 * Returns Japanese if the request prefers Japanese to English. If the request specifies no language, the browser's
 * preference applies.
 */
export const pageLanguage = (uiLocales: string | undefined, acceptLanguage: string | undefined): Language => {
  const wanted = [...(uiLocales?.split(" ") ?? []), ...(acceptLanguage?.split(",") ?? [])]
  const first = wanted.map((tag) => tag.trim().slice(0, 2).toLowerCase()).find((tag) => tag === "en" || tag === "ja")
  return first === "ja" ? "ja" : "en"
}
