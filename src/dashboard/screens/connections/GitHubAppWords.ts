const en = {
  create: "Create a GitHub App",
  about:
    "GitHub creates an app with the permissions that svc needs, and svc stores its private key. You then install the app on the repositories.",
  organization: "Organization",
  organizationHelp: "The owner of the app at GitHub. If empty: your account."
}

const ja: typeof en = {
  create: "GitHub App を作成",
  about:
    "svc に必要な権限を持つアプリが GitHub に作成され、秘密鍵は svc に保存されます。作成後、リポジトリにインストールしてください。",
  organization: "Organization",
  organizationHelp: "GitHub でアプリを所有する Organization です。空の場合はあなたのアカウントが所有します。"
}

export const gitHubAppWords = { en, ja }
