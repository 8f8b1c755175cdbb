wireTree(location.hash.slice("#node-".length));
