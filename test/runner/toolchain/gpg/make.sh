#!/bin/sh
# Makes the keys and signatures of this folder with GnuPG 2.2 or newer, all of them at times that are made up, except for those of
# the release 1.9.2 (an RSA key with a signing subkey), which were made once. Run it in this folder to make them again.
set -eu
folder=$(pwd)
GNUPGHOME=$(mktemp -d)
export GNUPGHOME
trap 'gpgconf --kill all; rm -rf "$GNUPGHOME"' EXIT
printf 'allow-weak-digest-algos\n' > "$GNUPGHOME/gpg.conf"

made=20261101T000000
signed=20261102T000000
gpg_at() { at=$1; shift; gpg --batch --yes --quiet --no-tty --pinentry-mode loopback --passphrase '' --faked-system-time "$at!" "$@"; }
new() { gpg_at "$made" --quick-generate-key "$1@example.test" "$2" "$3" "$4"; }
add() { gpg_at "$made" --quick-add-key "$(fingerprint "$1")" "$2" "$3" "$4"; }
fingerprint() { gpg --batch --with-colons --list-keys "$1@example.test" | awk -F: '$1 == "fpr" { print $10; exit }'; }
subkey() { gpg --batch --with-colons --list-keys "$1@example.test" | awk -F: '$1 == "sub" { found = 1 } found && $1 == "fpr" { print $10; exit }'; }
export_key() { gpg_at "$signed" --export "$1@example.test" > "$folder/$2.gpg"; }
sign() { name=$1; by=$2; shift 2; gpg_at "$signed" --local-user "$by@example.test" --output "$folder/$name.sig" "$@" "$folder/content"; }

# Without an end of line: text and binary signatures are over the same octets.
printf 'what is signed' > content

new ed ed25519 sign,cert never
export_key ed ed
sign ed ed --detach-sign
sign sha256 ed --digest-algo SHA256 --detach-sign
sign sha1 ed --digest-algo SHA1 --detach-sign
sign sha224 ed --digest-algo SHA224 --detach-sign
sign text ed --textmode --detach-sign
sign expiring ed --default-sig-expire 10d --detach-sign
sign armored ed --armor --detach-sign
sign cleartext ed --clear-sign
sign inline ed --compress-algo none --sign
sign critical ed --sig-notation '!critical@example.test=yes' --detach-sign
sign notation ed --sig-notation 'remark@example.test=yes' --detach-sign

new sub ed25519 cert never
add sub ed25519 sign never
add sub cv25519 encr never
export_key sub sub
sign sub sub --detach-sign

new rsa rsa2048 sign,cert never
export_key rsa rsa
sign rsa rsa --detach-sign
sign md5 rsa --digest-algo MD5 --detach-sign
new weak rsa1024 sign,cert never
export_key weak weak
sign weak weak --detach-sign
new curve nistp256 sign,cert never
export_key curve curve
sign curve curve --detach-sign

new short ed25519 sign,cert 30d
export_key short short
sign short short --detach-sign
new shortsub ed25519 cert never
add shortsub ed25519 sign 30d
export_key shortsub shortsub
sign shortsub shortsub --detach-sign

new certifies ed25519 cert never
export_key certifies certifies

new old ed25519 sign,cert never
sign revoked old --detach-sign
sed 's/^:---/---/' "$GNUPGHOME/openpgp-revocs.d/$(fingerprint old).rev" | gpg_at "$signed" --import
export_key old revoked
new oldsub ed25519 cert never
add oldsub ed25519 sign never
sign revokedsub oldsub --detach-sign
printf 'key 1\nrevkey\ny\n0\n\ny\nsave\n' |
  gpg --yes --quiet --no-tty --pinentry-mode loopback --passphrase '' --faked-system-time "$signed!" --command-fd 0 --edit-key oldsub@example.test
export_key oldsub revokedsub
