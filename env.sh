ov () 
{ 
    mkdir -p $2;
    local dir=$2 up;
    up=$(echo $dir | sed 's#[^/]*#..#g');
    printf "resources:\n- $up/infra/windows\npatches:\n- path: open-p.yaml\n- path: close-p.yaml\n" > $dir/kustomization.yaml;
    for n in open close;
    do
        s="0 8 * * MON";
        [ $n = close ] && s="0 17 * * THU";
        printf "apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: $n-window, namespace: jobs}\nspec:\n  schedule: \"$s\"\n  timeZone: Europe/Berlin\n  suspend: false\n" > $dir/$n-p.yaml;
    done
}
