import { counted } from "../../words/Format.ts"

const en = {
  title: "Take over an existing state",
  about:
    "For infrastructure that Terraform or OpenTofu has applied elsewhere. Upload its state, and the capsule starts from it. The plan shows what the module would change; nothing is applied until somebody approves it.",
  file: "State file",
  fileHelp: "terraform.tfstate, or the output of terraform state pull or tofu state pull. At most 32 MiB.",
  sealed: "svc seals the state when it arrives, and erases it after an hour unless an install uses it.",
  tooLarge: "The file is larger than 32 MiB.",
  upload: "Upload the state",
  uploaded: "Uploaded state",
  facts: (resources: number, serial: number) => `${counted(resources, "resource")}, serial ${serial}`,
  writtenBy: "Written by version",
  digest: "SHA-256",
  without: "Install without it",
  undeclared: "Resources to give up",
  undeclaredHelp:
    "Resources of the state that the module does not declare would be destroyed, so the install refuses them. We recommend adding a moved or removed block to the module. To destroy them instead, enter one address per line.",
  unlocked: "The old backend is not locked",
  unlockedText:
    "Everybody who can access it can still apply to the same resources. Withdraw their access, or remove the state there, before you apply here.",
  review: "Takes over"
}

const ja: typeof en = {
  title: "既存のステートを引き継ぐ",
  about:
    "Terraform または OpenTofu が別の場所で適用したインフラ向けです。そのステートをアップロードすると、カプセルは空のステートではなくそのステートから始まります。プランにはモジュールによる変更内容が表示され、承認されるまで何も適用されません。",
  file: "ステートファイル",
  fileHelp: "terraform.tfstate、または terraform state pull や tofu state pull の出力。最大 32 MiB。",
  sealed: "受信後ただちに暗号化され、インストールに引き継がれなければ 1 時間後に消去されます。",
  tooLarge: "ファイルが 32 MiB を超えています。",
  upload: "ステートをアップロードする",
  uploaded: "アップロードしたステート",
  facts: (resources: number, serial: number) => `リソース ${resources} 件、シリアル ${serial}`,
  writtenBy: "作成したバージョン",
  digest: "SHA-256",
  without: "引き継がずにインストールする",
  undeclared: "手放すリソース",
  undeclaredHelp:
    "ステートにあってモジュールで宣言されていないリソースは削除の対象になるため、インストールは拒否されます。モジュールに moved または removed ブロックを追加することをお勧めします。削除してよい場合は、アドレスを 1 行に 1 つずつ入力してください。",
  unlocked: "元のバックエンドはロックされません",
  unlockedText:
    "元のバックエンドにアクセスできる人は、同じリソースに引き続き適用できます。ここで適用する前に、アクセス権を取り消すか、元のステートを削除してください。",
  review: "引き継ぐステート"
}

export const takeOverWords = { en, ja }
