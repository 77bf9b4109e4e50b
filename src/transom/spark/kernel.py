"""Loading the Java kernel into a session, and calling it.

The jar comes with the package. It goes into a running session with ADD JAR; the thread that calls into it must have
the class loader that knows it, and that loader belongs to the session, not to the thread. Both are done here alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import as_file, files
from typing import Any

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql.types import StructType

from transom.model.time import Calendar
from transom.spark.marks import TickTime
from transom.spark.runner import Shape
from transom.spark.session import PROVIDER, has_rocksdb

JAR = "transom-kernel.jar"
PACKAGE = "transom.kernel"
VERSION = 2


def has_jvm(spark: SparkSession) -> bool:
    """Whether a session can be reached in its JVM; that of Spark Connect cannot."""
    return getattr(spark, "_jvm", None) is not None


def refusal(spark: SparkSession) -> str | None:
    """Why a session cannot take the kernel, or None once it has it."""
    if not has_jvm(spark):
        return "a Spark Connect session has no JVM of its own"
    if not has_rocksdb(spark):
        return f"the session does not keep its state in RocksDB ({PROVIDER})"
    try:
        version = enter(spark).Kernel.VERSION
        if not isinstance(version, int):
            found = files("transom").joinpath(JAR)
            if not found.is_file():
                return f"the package lacks {JAR}"
            with as_file(found) as jar:
                spark.sql(f"ADD JAR '{jar.as_posix()}'")
            version = enter(spark).Kernel.VERSION
    except Exception as error:  # whatever the session says, the portable path works
        return f"the session refuses the jar: {str(error).splitlines()[0][:200]}"
    return None if version == VERSION else f"the session has version {version} of the kernel, not {VERSION}"


def clock(spark: SparkSession, setting: str) -> DataFrame:
    """The clock as a source."""
    enter(spark)
    return spark.readStream.format(f"{PACKAGE}.ClockSource").option("setting", setting).load()


def machine(
    frame: DataFrame,
    specification: str,
    calendar: Calendar,
    shape: Shape,
    *,
    by: Sequence[str],
    out: StructType,
    live: bool,
) -> DataFrame:
    """What a machine makes of arrivals."""
    spark = frame.sparkSession
    java = enter(spark)
    names, sizes = _array(spark, "java.lang.String", by), _array(spark, "int", shape.values)
    rest = (TickTime(calendar).zero, calendar.length, shape.lines, shape.buckets, shape.keys, sizes, live)
    return DataFrame(java.Kernel.run(frame._jdf, specification, names, out.json(), *rest), spark)


def slide(
    frame: DataFrame,
    specification: str,
    calendar: Calendar,
    *,
    by: Sequence[str],
    out: StructType,
    values: int,
    live: bool,
) -> DataFrame:
    """Sliding aggregates of each group."""
    spark = frame.sparkSession
    java = enter(spark)
    rest = (TickTime(calendar).zero, calendar.length, values, live)
    names = _array(spark, "java.lang.String", by)
    return DataFrame(java.Kernel.slide(frame._jdf, specification, names, out.json(), *rest), spark)


def is_closed(spark: SparkSession, tick: Column, offsets: str, calendar: Calendar) -> Column:
    """Whether a tick was closed when the micro-batch of a row began; `offsets` is the folder of Spark's log of them."""
    java = enter(spark)
    return Column(java.Kernel.isClosed(tick._jc, offsets, TickTime(calendar).zero, calendar.length))


def enter(spark: SparkSession) -> Any:
    """The kernel's package, from a thread that can see it."""
    jvm: Any = spark._jvm
    loader = spark._jsparkSession.sharedState().jarClassLoader()
    jvm.java.lang.Thread.currentThread().setContextClassLoader(loader)
    return jvm.transom.kernel


def _array(spark: SparkSession, kind: str, items: Sequence[Any]) -> Any:
    gateway: Any = spark.sparkContext._gateway
    java = gateway.jvm
    for part in kind.split("."):
        java = getattr(java, part)
    array = gateway.new_array(java, len(items))
    for place, item in enumerate(items):
        array[place] = item
    return array
