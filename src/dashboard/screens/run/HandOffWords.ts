const en = {
  later: (product: string) => `After a successful apply you can continue to ${product} at`,
  title: "Everything is in place",
  text: (product: string) => `${product} started this installation, and receives its result at`,
  go: (product: string) => `Continue to ${product}`,
  notOpened: "If no page opened, press again.",
  astray: "The server returned a different address than at the start. Nothing was sent.",
  needsAdmin: "An admin of this workspace can continue from here."
}

const ja: typeof en = {
  later: (product: string) => `適用が成功したら、${product} に進めます:`,
  title: "準備が完了しました",
  text: (product: string) => `このインストールは ${product} から開始されました。結果は次のアドレスに渡されます:`,
  go: (product: string) => `${product} に進む`,
  notOpened: "何も開かない場合は、もう一度押してください。",
  astray: "サーバーが示したアドレスは、開始時のものと異なります。何も送信していません。",
  needsAdmin: "続行できるのは、このワークスペースの管理者です。"
}

export const handOffWords = { en, ja }
