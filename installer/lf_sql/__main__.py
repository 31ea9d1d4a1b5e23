"""python -m lf_sql"""

from lf_sql.cli import main

main()
