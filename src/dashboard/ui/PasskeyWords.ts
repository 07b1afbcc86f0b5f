const en = {
  unavailable:
    "Passkeys need a host name and a secure connection (https). This page is open at an address without them.",
  openByName: (origin: string) => `Passkeys do not work at an IP address. On this machine, open ${origin} instead.`,
  serveByName: (origin: string) =>
    `Passkeys do not work at an IP address. On this machine, start the server with \`SVC_BASE_URL=${origin}\` and open that address.`
}

const ja: typeof en = {
  unavailable: "パスキーには、ホスト名と安全な接続（https）が必要です。このページのアドレスでは使用できません。",
  openByName: (origin) =>
    `IP アドレスではパスキーを使用できません。このマシンでは、代わりに ${origin} を開いてください。`,
  serveByName: (origin) =>
    `IP アドレスではパスキーを使用できません。このマシンでは、\`SVC_BASE_URL=${origin}\` を設定してサーバーを起動し、そのアドレスを開いてください。`
}

export const passkeyWords = { en, ja }
