# Lines for scores.dyn: words whose tag says whether their first number is above 0; the size is that of 2 x0 - x1 + 0.5 x2.
import json
import random

random.seed(5)
for n in range(60):
    xs = [[round(random.uniform(-1, 1), 3) for _ in range(3)] for _ in range(random.randint(1, 5))]
    size = sum(2 * x[0] - x[1] + 0.5 * x[2] for x in xs)
    print(json.dumps({"nodes": [{"Word": {"x": x, "tag": int(x[0] > 0)}} for x in xs],
                      "args": {"ws": list(range(len(xs))), "size": size}, "target": size}))
