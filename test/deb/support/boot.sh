#!/bin/sh
# Boots a folder as a machine: systemd as the first process, in namespaces, with a network of two addresses. The machine is
# 192.0.2.2 and named svc.example.com. At 192.0.2.1 there is a certificate authority with the name of Let's Encrypt, and nothing else.
# Arguments: the folder, and an empty folder for files of the network. Run it with `unshare --mount --net`. It prints the id of the
# machine's first process when the machine has booted, and shuts the machine down on SIGTERM.
set -eu
root=$1 net=$2

mkdir "$net/cgroup"
mount -t cgroup2 cgroup2 "$net/cgroup"
group="$net/cgroup/svc-debian-$$"
mkdir "$group"
machine= authority= pid=
finish() {
  trap - TERM EXIT
  # When the machine's first process ends, the kernel ends all others before anybody can wait for it.
  kill -KILL ${pid:-$machine} $authority 2>/dev/null || true
  wait
  find "$group" -depth -type d -exec rmdir {} \;
  exit 0
}
trap finish TERM EXIT

openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj '/CN=Authority of this test' -days 2 \
  -keyout "$net/ca.key" -out "$net/ca.crt" 2>/dev/null
cp "$net/ca.crt" "$root/usr/local/share/ca-certificates/test.crt"
chroot "$root" update-ca-certificates >/dev/null 2>&1
printf '127.0.0.1 localhost\n192.0.2.1 acme-v02.api.letsencrypt.org\n192.0.2.2 svc.example.com\n' >"$net/hosts"
cp "$net/hosts" "$root/etc/hosts"
echo 'nameserver 192.0.2.1' >"$root/etc/resolv.conf"

# A unit of the machine reports the end of the boot.
mkfifo "$net/ready" "$net/go" "$root/booted"
printf '[Service]\nType=oneshot\nExecStart=/bin/sh -c "echo booted >/booted"\n' \
  >"$root/etc/systemd/system/booted.service"
mkdir -p "$root/etc/systemd/system/multi-user.target.wants"
ln -s ../booted.service "$root/etc/systemd/system/multi-user.target.wants/booted.service"

enter='
set -eu
read -r pid rest </proc/self/stat
echo "$pid" >"$2/ready"
read -r go <"$2/go"
ip link set lo up
ip address add 192.0.2.2/24 dev eth0
ip link set eth0 up
ip route add default via 192.0.2.1
mount --bind "$1" "$1"
cd "$1"
mount -t proc proc proc
mount -t sysfs sysfs sys
mount -t cgroup2 cgroup2 sys/fs/cgroup
mount -t tmpfs -o mode=755 tmpfs dev
for name in null zero full random urandom tty; do touch dev/$name; mount --bind /dev/$name dev/$name; done
mkdir dev/net dev/pts dev/shm
mknod -m 666 dev/net/tun c 10 200
mount -t devpts -o newinstance,ptmxmode=0666,mode=620,gid=5 devpts dev/pts
ln -s pts/ptmx dev/ptmx
ln -s /proc/self/fd dev/fd
for entry in 0:stdin 1:stdout 2:stderr; do ln -s /proc/self/fd/${entry%:*} dev/${entry#*:}; done
mount -t tmpfs -o mode=1777 tmpfs dev/shm
mount -t tmpfs -o mode=755 tmpfs run
mount -t tmpfs -o mode=1777 tmpfs tmp
mkdir run/host
pivot_root . run/host
cd /
umount -l /run/host
exec env -i container=other PATH=/usr/sbin:/usr/bin:/sbin:/bin /lib/systemd/systemd --log-target=console
'
start='echo 0 >"$0/cgroup.procs"; exec unshare --mount --net --pid --uts --ipc --cgroup --propagation private --fork --kill-child sh -c "$@"'
sh -c "$start" "$group" "$enter" sh "$root" "$net" >"$net/console" 2>&1 &
machine=$!
read -r pid <"$net/ready"
ip link set lo up
ip link add world type veth peer name eth0 netns "$pid"
ip address add 192.0.2.1/24 dev world
ip link set world up
# Without this, connections to other addresses would wait for a timeout instead of being refused.
echo 1 >/proc/sys/net/ipv4/ip_forward

mount --bind "$net/hosts" /etc/hosts
cat >"$net/Caddyfile" <<END
{
	admin off
	skip_install_trust
	auto_https disable_redirects
	storage file_system $net/storage
	pki {
		ca local {
			root {
				cert $net/ca.crt
				key $net/ca.key
			}
		}
	}
}
https://acme-v02.api.letsencrypt.org {
	tls internal
	rewrite /directory /acme/local/directory
	acme_server
}
END
HOME="$net" caddy run --adapter caddyfile --config "$net/Caddyfile" >"$net/authority" 2>&1 &
authority=$!

echo >"$net/go"
read -r _ <"$root/booted"
echo "$pid"
wait $machine
