import re,subprocess
# changed titles referenced elsewhere
kinds={}
for p in ('06','07'):
    for l in open('/tmp/words/p2.'+p):
        a,k,t=l.rstrip('\n').split('\t',2); kinds.setdefault(a,[]).append((k,t))
seen={}
for l in open('/tmp/words/o2.3.tsv'):
    a,o,n=l.rstrip('\n').split('\t')
    m=[(k,t) for k,t in kinds[a] if o in t]
    assert len(m)>=1,(a,o)
    if len(kinds[a])>1: print('multi',a,kinds[a])
    if o==n: print('same',a)
    seen.setdefault((a),[]).append(o)
    if m[0][0]=='title':
        r=subprocess.run(['grep','-rlF','--include=*.ts','--include=*.md','--include=*.tsv','--',m[0][1],'/work/wt/words/test','/work/wt/words/docs','/work/wt/words/scripts'],capture_output=True,text=True).stdout.split()
        r=[x for x in r if not x.endswith(a.rsplit(':',1)[0])]
        if r: print('REF',a,m[0][1],r)
for a,v in seen.items():
    if len(v)>1: print('twice',a,v)
